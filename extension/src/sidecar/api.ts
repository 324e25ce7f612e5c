// The sidecar as the other folders see it. Only `client.ts` knows the connection.
import type { CancellationToken, Event } from 'vscode';
import type { Protocol, Remedy, Event as TrellisEvent } from '../protocol';

export type Methods = Protocol['methods'];
export type MethodName = keyof Methods;
export type Params<M extends MethodName> = Methods[M]['params'];
export type Result<M extends MethodName> = Methods[M]['result'];

export type SidecarState = 'starting' | 'running' | 'restarting' | 'stopped';

/** An error that the sidecar answered with, or one of the extension in the same form. */
export class TrellisError extends Error {
  constructor(
    message: string,
    /** JSON-RPC code, or the exit code of the command line. */
    readonly code: number,
    /** Advice for the person. */
    readonly hint: string | undefined,
    /** Kind of error: one of `components.errors` of the API description, such as `busy` or `untrusted`. */
    readonly kind: string | undefined,
    /** Action that may be offered, if the sidecar names one. */
    readonly remedy?: Remedy,
  ) {
    super(message);
  }
}

export interface Sidecar {
  readonly state: SidecarState;
  readonly onState: Event<SidecarState>;
  /** True once the window closes or reloads. */
  readonly isEnding: boolean;
  /** Events of the notification `trellis/event`. */
  readonly onEvent: Event<TrellisEvent>;
  /** Sends a request. Waits while the sidecar starts; rejects with a {@link TrellisError}. */
  request<M extends MethodName>(method: M, params: Params<M>, token?: CancellationToken): Promise<Result<M>>;
}
