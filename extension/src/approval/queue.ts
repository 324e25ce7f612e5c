// Open proposals as a value, made of lists and events of the sidecar.
import type { FixSummary, State, Event as TrellisEvent } from '../protocol';
import { proposalKey } from './proposal_uri';

/** A proposal and its folder. */
export interface Proposal extends FixSummary {
  /** Folder, absolute. */
  readonly root: string;
}

/** Proposals by folder and id; those of a folder the oldest first. */
export type Queue = ReadonlyMap<string, Proposal>;

export const EMPTY_QUEUE: Queue = new Map();

/** States without anything left to decide. */
const DECIDED_STATES: readonly string[] = ['accepted', 'rejected'];

/** States in the order of display. */
const STATE_ORDER: readonly State[] = ['waiting', 'stale', 'failed', 'undone'];

/** Replaces the proposals of a folder by a list. */
export function withList(queue: Queue, root: string, fixes: readonly FixSummary[]): Queue {
  const others = [...queue].filter(([, it]) => it.root !== root);
  const open = fixes.filter((it) => !DECIDED_STATES.includes(it.state)).map((it) => ({ ...it, root }));
  return new Map([...others, ...open.map((it): [string, Proposal] => [proposalKey(it), it])]);
}

/** Removes the proposals of some folders. */
export function without(queue: Queue, isGone: (root: string) => boolean): Queue {
  return new Map([...queue].filter(([, it]) => !isGone(it.root)));
}

/** Removes a decided proposal; other events do not contain enough. */
export function applyEvent(queue: Queue, event: Extract<TrellisEvent, { type: 'proposal' }>): Queue {
  const key = proposalKey({ root: event.root, fix: event.proposal });
  if (!DECIDED_STATES.includes(event.state) || !queue.has(key)) return queue;
  const left = new Map(queue);
  left.delete(key);
  return left;
}

export function waiting(queue: Queue): readonly Proposal[] {
  return ordered(queue).filter((it) => it.state === 'waiting');
}

/** Returns all open proposals: waiting ones first, then the oldest first. */
export function ordered(queue: Queue): readonly Proposal[] {
  return [...queue.values()].sort(
    (a, b) =>
      STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state) || compare(a.createdAt, b.createdAt),
  );
}

/** Returns the proposals that wait now and did not before. */
export function arrived(before: Queue, now: Queue): readonly Proposal[] {
  return waiting(now).filter((it) => before.get(proposalKey(it))?.state !== 'waiting');
}

/** Returns the proposals that were open and are not any more: decided, or gone. */
export function departed(before: Queue, now: Queue): readonly Proposal[] {
  return [...before].filter(([key]) => !now.has(key)).map(([, it]) => it);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
