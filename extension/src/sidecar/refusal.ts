// Errors of the wire as what the rooms know.
import type { Remedy } from '../protocol';
import { Refusal } from './api';

/** Anything that was thrown, as a {@link Refusal}. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { message, code, data } = fields(error);
  const { hint, kind, remedy } = fields(data);
  return new Refusal(
    typeof message === 'string' && message !== '' ? message : String(error),
    typeof code === 'number' ? code : INTERNAL,
    typeof hint === 'string' && hint !== '' ? hint : undefined,
    typeof kind === 'string' ? kind : undefined,
    isRemedy(remedy) ? remedy : undefined,
  );
}

/** What a newer sidecar knows to be possible is not offered here. */
function isRemedy(value: unknown): value is Remedy {
  return value === 'rebase' || value === 'review';
}

/** What happened and what to do, as one sentence each. */
export function told(refusal: Refusal): string {
  const { message, hint } = refusal;
  return hint === undefined ? message : `${ended(message)} ${capital(hint)}`;
}

/** JSON-RPC's code for a fault of the server. */
const INTERNAL = -32603;
/** What the protocol and the sidecar say of a request that was taken back. */
const CANCELLED: readonly number[] = [-32800, 130];

/** Whether nobody wants to hear of it, since it was asked for. */
export function isCancelled(refusal: Refusal): boolean {
  return refusal.kind === 'cancelled' || CANCELLED.includes(refusal.code);
}

function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value, ...messageOf(value) } : {};
}

/** An error's message is no property of its own that a spread would copy. */
function messageOf(value: object): Record<string, unknown> {
  return value instanceof Error ? { message: value.message } : {};
}

/** A command that helps, and what it is called where it is offered. */
export interface WayOut {
  readonly title: string;
  readonly command: string;
}

/** What to offer with an error of this kind; where nothing is known to help, the output tells more. */
export function wayOut(kind: string | undefined, words: (message: string) => string): WayOut {
  switch (kind) {
    case 'untrusted':
      return { title: words('Manage Workspace Trust'), command: 'workbench.trust.manage' };
    case 'noModel':
      return { title: words('Select Model…'), command: 'trellis.selectModel' };
    case 'noKey':
      return { title: words('Set API Key…'), command: 'trellis.setApiKey' };
    default:
      return { title: words('Show Output'), command: 'trellis.showOutput' };
  }
}
