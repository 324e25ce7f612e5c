// What the rooms of the extension know of the sidecar. Only `client.ts` knows how it is reached.
import type { CancellationToken, Event } from 'vscode';
import type { Protocol, Remedy, Event as TrellisEvent } from '../protocol';

export type Methods = Protocol['methods'];
export type MethodName = keyof Methods;
export type Params<M extends MethodName> = Methods[M]['params'];
export type Result<M extends MethodName> = Methods[M]['result'];

export type SidecarState = 'starting' | 'running' | 'restarting' | 'stopped';

/** What the sidecar refused, in its own words. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** JSON-RPC code, or the exit code that the command line would give. */
    readonly code: number,
    /** What to do about it. */
    readonly hint: string | undefined,
    /** One of `components.errors` of the description, such as `busy` or `untrusted`. */
    readonly kind: string | undefined,
    /** What may be offered, where the sidecar knows. */
    readonly remedy?: Remedy,
  ) {
    super(message);
  }
}

export interface Sidecar {
  readonly state: SidecarState;
  readonly onState: Event<SidecarState>;
  /** `trellis/event`. */
  readonly onEvent: Event<TrellisEvent>;
  /** Waits for a sidecar that is starting; rejects with a {@link Refusal}. */
  request<M extends MethodName>(method: M, params: Params<M>, token?: CancellationToken): Promise<Result<M>>;
}
