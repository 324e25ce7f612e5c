// Errors of the wire as what the rooms know.
import { l10n } from 'vscode';
import type { Remedy } from '../protocol';
import { Refusal } from './api';
import { adviceOf, inSettings } from './hints';

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

type Words = (message: string, ...values: string[]) => string;

/** What happened and what to do, as one sentence each. */
export function told(refusal: Pick<Refusal, 'message' | 'hint' | 'kind'>, words: Words = l10n.t): string {
  const { text } = adviceOf(refusal, words);
  const message = inSettings(refusal.message, words);
  return text === undefined ? message : `${ended(message)} ${capital(text)}`;
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
  readonly given?: string;
}

/** What to offer with an error; where nothing is known to help, the output tells more. */
export function wayOut(refusal: Pick<Refusal, 'hint' | 'kind'>, words: Words): WayOut {
  const { setting } = adviceOf(refusal, words);
  if (setting !== undefined)
    return { title: words('Open Settings'), command: 'workbench.action.openSettings', given: setting };
  switch (refusal.kind) {
    case 'untrusted':
      return { title: words('Manage Workspace Trust'), command: 'workbench.trust.manage' };
    case 'noModel':
    case 'noFix':
      return { title: words('Select Model…'), command: 'trellis.selectModel' };
    case 'noKey':
      return { title: words('Set API Key…'), command: 'trellis.setApiKey' };
    default:
      return { title: words('Show Output'), command: 'trellis.showOutput' };
  }
}
