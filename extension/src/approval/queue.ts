// Proposals that are open, as a value made of what the sidecar lists and tells.
import type { FixSummary, State, Event as TrellisEvent } from '../protocol';
import { keyOf } from './place';

/** A proposal of a folder. */
export interface Proposal extends FixSummary {
  /** Absolute. */
  readonly root: string;
}

/** By folder and id; those of a folder the oldest first. */
export type Queue = ReadonlyMap<string, Proposal>;

export const NOTHING: Queue = new Map();

/** States after which there is nothing to decide. */
const DECIDED: readonly string[] = ['accepted', 'rejected'];

/** The order in which a person wants to see them. */
const STATES: readonly State[] = ['waiting', 'stale', 'failed', 'undone'];

/** What a folder's list says takes the place of all that was known of the folder. */
export function listed(queue: Queue, root: string, fixes: readonly FixSummary[]): Queue {
  const others = [...queue].filter(([, it]) => it.root !== root);
  const open = fixes.filter((it) => !DECIDED.includes(it.state)).map((it) => ({ ...it, root }));
  return new Map([...others, ...open.map((it): [string, Proposal] => [keyOf(it), it])]);
}

/** Those of all other folders. */
export function without(queue: Queue, isGone: (root: string) => boolean): Queue {
  return new Map([...queue].filter(([, it]) => !isGone(it.root)));
}

/** What was decided goes at once; of the rest the event tells too little. */
export function afterEvent(queue: Queue, event: Extract<TrellisEvent, { type: 'proposal' }>): Queue {
  const key = keyOf({ root: event.root, fix: event.proposal });
  if (!DECIDED.includes(event.state) || !queue.has(key)) return queue;
  const left = new Map(queue);
  left.delete(key);
  return left;
}

export function waiting(queue: Queue): readonly Proposal[] {
  return ordered(queue).filter((it) => it.state === 'waiting');
}

/** All that are open: those that wait first, then the oldest first. */
export function ordered(queue: Queue): readonly Proposal[] {
  return [...queue.values()].sort(
    (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || compare(a.createdAt, b.createdAt),
  );
}

/** Those that wait now and did not before. */
export function arrived(before: Queue, now: Queue): readonly Proposal[] {
  return waiting(now).filter((it) => before.get(keyOf(it))?.state !== 'waiting');
}

/** Those that were open and are not any more: decided, or gone. */
export function departed(before: Queue, now: Queue): readonly Proposal[] {
  return [...before].filter(([key]) => !now.has(key)).map(([, it]) => it);
}

/** What was announced and still waits, the oldest first. */
export function announced(
  before: readonly Proposal[],
  news: readonly Proposal[],
  now: Queue,
): readonly Proposal[] {
  const keys = new Set([...before, ...news].map(keyOf));
  return waiting(now).filter((it) => keys.has(keyOf(it)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
