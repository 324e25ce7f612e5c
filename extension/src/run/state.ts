// Where the nodes of one run stand: a value, made of the plan, the checkpoint and what is told along the way.

import type { PlanShowResult, RunKind, TasksStatusResult, Event as TrellisEvent } from '../protocol';
import { type Cost, costOf, isSameCost, type Paid } from './cost';

/** `stopped`: work on it was begun, and nobody is at it any more. */
export const STATUSES = ['in_progress', 'failed', 'skipped', 'stopped', 'pending', 'passed'] as const;
type Known = (typeof STATUSES)[number];
/** `other`: one that only a newer sidecar knows, in whose word it is shown. */
export type Status = Known | 'other';

/** A node of which code is made. */
export interface RunNode {
  readonly id: string;
  readonly name: string;
  /** `main` where the plan names none. */
  readonly subgraph: string;
  /** Ids of nodes of the same run. */
  readonly needs: readonly string[];
  readonly status: Status;
  /** The sidecar's own word for a status that is none of ours. */
  readonly word?: string;
  /** Why it failed or was skipped. */
  readonly reason?: string;
  /** What is being done for it, and how that went, in a few words. */
  readonly stage?: string;
}

export interface Run {
  /** Whether its nodes are those of a planning graph, or tasks. */
  readonly kind: RunKind;
  /** The folder it grows in, absolute. */
  readonly out: string;
  /** The planning graph, or the list of tasks, absolute. */
  readonly graph: string;
  /** In the order of the plan. */
  readonly nodes: ReadonlyMap<string, RunNode>;
  /** What its model's answers cost, as far as they are counted. */
  readonly cost?: Cost;
}

function isKnown(text: string): text is Known {
  return STATUSES.some((it) => it === text);
}

/** Where a node stands, as it was kept. */
interface Entry extends Paid {
  readonly failure_reason?: string | null;
}

/** Where the nodes of a run stand, by id: a `StatusResult`, or what is made of one of tasks. */
export interface Standings {
  readonly nodes: Readonly<Record<string, Entry>>;
}

/** Tasks as nodes; one that waits for its turn has no entry. */
export function ofTasks(told: TasksStatusResult): Standings {
  const plain = (ids: readonly string[], status: Known) => ids.map((id) => [id, { status }] as const);
  const reasons = (tasks: Readonly<Record<string, string>>, status: Known) =>
    Object.entries(tasks).map(([id, why]) => [id, { status, failure_reason: why }] as const);
  const nodes = [
    ...plain(told.completedTasks, 'passed'),
    ...plain(told.currentTasks, 'in_progress'),
    ...reasons(told.failedTasks, 'failed'),
    ...reasons(told.blockedTasks, 'skipped'),
  ];
  return { nodes: Object.fromEntries<Entry>(nodes) };
}

/** What a run is about. */
export type About = Pick<Run, 'kind' | 'out' | 'graph'>;

/**
 * @param status none before the first checkpoint
 * @param isActive whether somebody is at work on it
 */
export function runOf(
  about: About,
  plan: PlanShowResult,
  status: Standings | undefined,
  isActive: boolean,
): Run {
  const leaves = plan.nodes.filter((it) => it.leaf);
  const known = new Set(leaves.map((it) => it.id));
  const nodes = leaves.map((it): RunNode => {
    const needs = it.dependsOn.filter((id) => known.has(id));
    const bare = { id: it.id, name: it.name, subgraph: it.subgraph ?? 'main', needs };
    return stood(bare, status?.nodes[it.id], isActive);
  });
  const made = { ...about, nodes: new Map(nodes.map((it) => [it.id, it])) };
  return status === undefined ? made : withCost(made, status);
}

/** The run as a newer checkpoint has it; the same value where that says nothing new. */
export function withStatus(run: Run, status: Standings, isActive: boolean): Run {
  const changed = [...run.nodes.values()]
    .map((it) => stood(it, status.nodes[it.id], isActive))
    .filter((it) => {
      const before = run.nodes.get(it.id);
      const same = before?.status === it.status && before.word === it.word;
      return !same || before.reason !== it.reason;
    });
  return withCost(replaced(run, changed), status);
}

/** The same nodes, which events may have told more of than the checkpoint has, with what it knows of their cost. */
export function withCost(run: Run, status: Standings): Run {
  const cost = costOf(status);
  return cost === undefined || isSameCost(cost, run.cost) ? run : { ...run, cost };
}

/** The run after an event of its job; the same value where the event says nothing of its nodes. */
export function afterEvent(run: Run, event: TrellisEvent): Run {
  if (event.type !== 'node' && event.type !== 'stage') return run;
  const node = run.nodes.get(event.node);
  if (node === undefined) return run;
  if (event.type === 'stage') return replaced(run, [{ ...node, stage: `${event.stage}: ${event.outcome}` }]);
  const { id, name, subgraph, needs } = node;
  const kept = event.status === 'in_progress' && node.stage !== undefined ? { stage: node.stage } : {};
  const stands = { ...standing(event.status), ...because(event.reason), ...kept };
  return replaced(run, [{ id, name, subgraph, needs, ...stands }]);
}

/** Ids of the nodes that are others; `all` where the run or its plan is another. */
export function differences(before: Run | undefined, after: Run | undefined): 'all' | ReadonlySet<string> {
  if (before === undefined || after === undefined || before.out !== after.out) return 'all';
  const planned = (it: RunNode) => {
    const was = before.nodes.get(it.id);
    const same = was?.subgraph === it.subgraph && was.name === it.name;
    return same && was.needs.join('\n') === it.needs.join('\n');
  };
  const nodes = [...after.nodes.values()];
  if (before.nodes.size !== nodes.length || !nodes.every(planned)) return 'all';
  return new Set(nodes.filter((it) => before.nodes.get(it.id) !== it).map((it) => it.id));
}

export type Counts = Readonly<Record<Status, number>>;

export function countsOf(nodes: Iterable<RunNode>): Counts {
  const counts = { in_progress: 0, failed: 0, skipped: 0, stopped: 0, pending: 0, passed: 0, other: 0 };
  for (const it of nodes) counts[it.status] += 1;
  return counts;
}

function stood(
  node: Pick<RunNode, 'id' | 'name' | 'subgraph' | 'needs'>,
  entry: Entry | undefined,
  isActive: boolean,
): RunNode {
  const { id, name, subgraph, needs } = node;
  const status = entry?.status ?? 'pending';
  // A checkpoint says for ever what was in work when its run was cut off.
  const stands = standing(status === 'in_progress' && !isActive ? 'stopped' : status);
  return { id, name, subgraph, needs, ...stands, ...because(entry?.failure_reason) };
}

function standing(status: string): Pick<RunNode, 'status' | 'word'> {
  return isKnown(status) ? { status } : { status: 'other', word: status };
}

function because(reason: string | null | undefined): { reason?: string } {
  return reason ? { reason } : {};
}

function replaced(run: Run, nodes: readonly RunNode[]): Run {
  if (nodes.length === 0) return run;
  const all = new Map(run.nodes);
  for (const it of nodes) all.set(it.id, it);
  return { ...run, nodes: all };
}
