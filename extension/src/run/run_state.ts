// The nodes of one run as a value, made of the plan, the checkpoint and events.

import type { PlanShowResult, RunKind, TasksStatusResult, Event as TrellisEvent } from '../protocol';
import { type Cost, costOf, isSameCost, type NodeCost } from './cost';

/** Statuses in the order of display. `stopped`: begun, and no process works on it any more. */
export const STATUSES = ['in_progress', 'failed', 'skipped', 'stopped', 'pending', 'passed'] as const;
type KnownStatus = (typeof STATUSES)[number];
/** Known statuses, and `other` for a status of a newer sidecar, shown in its word. */
export type Status = KnownStatus | 'other';

/** A node with code. */
export interface RunNode {
  readonly id: string;
  readonly name: string;
  /** Name of the subgraph; `main` if the plan has none. */
  readonly subgraph: string;
  /** Ids of its dependencies in the same run. */
  readonly needs: readonly string[];
  readonly status: Status;
  /** The sidecar's word for a status of kind `other`. */
  readonly word?: string;
  /** Reason of the failure or skip. */
  readonly reason?: string;
  /** Current step and its outcome, in a few words. */
  readonly stage?: string;
}

export interface Run {
  /** Whether the nodes are those of a planning graph, or tasks. */
  readonly kind: RunKind;
  /** Output folder, absolute. */
  readonly out: string;
  /** Planning graph or task list, absolute. */
  readonly graph: string;
  /** Nodes in the order of the plan. */
  readonly nodes: ReadonlyMap<string, RunNode>;
  /** Cost of the model calls, if tokens are counted. */
  readonly cost?: Cost;
}

function isKnown(text: string): text is KnownStatus {
  return STATUSES.some((it) => it === text);
}

/** Status of a node in a checkpoint. */
interface StatusEntry extends NodeCost {
  readonly failure_reason?: string | null;
}

/** Statuses of the nodes by id: a `StatusResult`, or the same for tasks. */
export interface NodeStatuses {
  readonly nodes: Readonly<Record<string, StatusEntry>>;
}

/** Converts the status of tasks; a waiting task has no entry. */
export function statusesOfTasks(tasks: TasksStatusResult): NodeStatuses {
  const plain = (ids: readonly string[], status: KnownStatus) => ids.map((id) => [id, { status }] as const);
  const reasons = (byId: Readonly<Record<string, string>>, status: KnownStatus) =>
    Object.entries(byId).map(([id, why]) => [id, { status, failure_reason: why }] as const);
  const nodes = [
    ...plain(tasks.completedTasks, 'passed'),
    ...plain(tasks.currentTasks, 'in_progress'),
    ...reasons(tasks.failedTasks, 'failed'),
    ...reasons(tasks.blockedTasks, 'skipped'),
  ];
  return { nodes: Object.fromEntries<StatusEntry>(nodes) };
}

/** Identity of a run. */
export type RunSource = Pick<Run, 'kind' | 'out' | 'graph'>;

/**
 * Makes the run.
 * @param status none before the first checkpoint
 * @param isActive whether a process works on the run
 */
export function runOf(
  source: RunSource,
  plan: PlanShowResult,
  status: NodeStatuses | undefined,
  isActive: boolean,
): Run {
  const leaves = plan.nodes.filter((it) => it.leaf);
  const known = new Set(leaves.map((it) => it.id));
  const nodes = leaves.map((it): RunNode => {
    const needs = it.dependsOn.filter((id) => known.has(id));
    const bare = { id: it.id, name: it.name, subgraph: it.subgraph ?? 'main', needs };
    return withEntry(bare, status?.nodes[it.id], isActive);
  });
  const made = { ...source, nodes: new Map(nodes.map((it) => [it.id, it])) };
  return status === undefined ? made : withCost(made, status);
}

/** Returns the run with the statuses of a newer checkpoint; the same value if nothing changed. */
export function withStatus(run: Run, status: NodeStatuses, isActive: boolean): Run {
  const changed = [...run.nodes.values()]
    .map((it) => withEntry(it, status.nodes[it.id], isActive))
    .filter((it) => {
      const before = run.nodes.get(it.id);
      const same = before?.status === it.status && before.word === it.word;
      return !same || before.reason !== it.reason;
    });
  return withCost(withNodes(run, changed), status);
}

/** Returns the run with the cost of a checkpoint. The nodes stay, since events may be newer than the checkpoint. */
export function withCost(run: Run, status: NodeStatuses): Run {
  const cost = costOf(status);
  return cost === undefined || isSameCost(cost, run.cost) ? run : { ...run, cost };
}

/** Returns the run after an event of its job; the same value if the event does not concern its nodes. */
export function applyEvent(run: Run, event: TrellisEvent): Run {
  if (event.type !== 'node' && event.type !== 'stage') return run;
  const node = run.nodes.get(event.node);
  if (node === undefined) return run;
  if (event.type === 'stage') return withNodes(run, [{ ...node, stage: `${event.stage}: ${event.outcome}` }]);
  const { id, name, subgraph, needs } = node;
  const kept = event.status === 'in_progress' && node.stage !== undefined ? { stage: node.stage } : {};
  const stands = { ...statusFields(event.status), ...reasonField(event.reason), ...kept };
  return withNodes(run, [{ id, name, subgraph, needs, ...stands }]);
}

/** Returns the ids of the changed nodes; `all` if the run or its plan is another one. */
export function changedNodes(before: Run | undefined, after: Run | undefined): 'all' | ReadonlySet<string> {
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

function withEntry(
  node: Pick<RunNode, 'id' | 'name' | 'subgraph' | 'needs'>,
  entry: StatusEntry | undefined,
  isActive: boolean,
): RunNode {
  const { id, name, subgraph, needs } = node;
  const status = entry?.status ?? 'pending';
  // The checkpoint of an interrupted run keeps nodes in progress.
  const stands = statusFields(status === 'in_progress' && !isActive ? 'stopped' : status);
  return { id, name, subgraph, needs, ...stands, ...reasonField(entry?.failure_reason) };
}

function statusFields(status: string): Pick<RunNode, 'status' | 'word'> {
  return isKnown(status) ? { status } : { status: 'other', word: status };
}

function reasonField(reason: string | null | undefined): { reason?: string } {
  return reason ? { reason } : {};
}

function withNodes(run: Run, nodes: readonly RunNode[]): Run {
  if (nodes.length === 0) return run;
  const all = new Map(run.nodes);
  for (const it of nodes) all.set(it.id, it);
  return { ...run, nodes: all };
}
