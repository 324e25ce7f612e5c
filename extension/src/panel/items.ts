// The rows of the panel, made of a run: which there are, and what they say.

import type { RunKind } from '../protocol';
import { countsOf, type Run, type RunNode, STATUSES, type Status } from '../run/run_state';
import type { Translate } from '../translate';

export interface GroupRow {
  readonly kind: 'group';
  readonly subgraph: string;
}

export interface NodeRow {
  readonly kind: 'node';
  readonly id: string;
}

/** Why a node failed or was skipped, below it. */
export interface ReasonRow {
  readonly kind: 'reason';
  readonly id: string;
}

export type Row = GroupRow | NodeRow | ReasonRow;

export type Filter = ReadonlySet<Status>;

/** Nodes by subgraph. */
export type Groups = ReadonlyMap<string, readonly RunNode[]>;

export const EVERYTHING: Filter = new Set(STATUSES);

/** Icons of the editor, with the colours that it has for such states. */
export const LOOKS: Readonly<Record<Status, { readonly icon: string; readonly colour?: string }>> = {
  in_progress: { icon: 'sync~spin', colour: 'charts.blue' },
  failed: { icon: 'error', colour: 'testing.iconFailed' },
  skipped: { icon: 'debug-step-over', colour: 'testing.iconSkipped' },
  stopped: { icon: 'debug-pause', colour: 'testing.iconSkipped' },
  pending: { icon: 'circle-outline' },
  passed: { icon: 'pass', colour: 'testing.iconPassed' },
  other: { icon: 'question' },
};

/**
 * The subgraphs of a run in the order of the plan, with the nodes that the filter lets through. It does not hold back
 * states that nobody here knows.
 */
export function groupsOf(run: Run, filter: Filter): Groups {
  const groups = new Map<string, RunNode[]>();
  for (const node of run.nodes.values()) {
    if (node.status !== 'other' && !filter.has(node.status)) continue;
    const group = groups.get(node.subgraph);
    if (group === undefined) groups.set(node.subgraph, [node]);
    else group.push(node);
  }
  return groups;
}

/**
 * The subgraphs that are to be drawn again, with what is below them: those of which a node came, went or is another
 * value. `all` where subgraphs themselves came or went.
 */
export function redrawn(before: Groups, after: Groups): 'all' | readonly string[] {
  const names = [...after.keys()];
  const known = [...before.keys()];
  if (names.length !== known.length || names.some((it, at) => it !== known[at])) return 'all';
  return names.filter((it) => !isSame(before.get(it) ?? [], after.get(it) ?? []));
}

function isSame(before: readonly RunNode[], after: readonly RunNode[]): boolean {
  return before.length === after.length && before.every((it, at) => it === after[at]);
}

/** Keys of rows of which the run has nothing any more. */
export function strays(rows: Iterable<readonly [string, Row]>, run: Run | undefined): readonly string[] {
  const subgraphs = new Set([...(run?.nodes.values() ?? [])].map((it) => it.subgraph));
  const isThere = (row: Row) =>
    row.kind === 'group' ? subgraphs.has(row.subgraph) : run?.nodes.has(row.id) === true;
  return [...rows].filter(([, row]) => !isThere(row)).map(([key]) => key);
}

/** What a subgraph looks like: a failure before work, work before what waits. */
export function worst(nodes: Iterable<RunNode>): Status {
  const counts = countsOf(nodes);
  const order: readonly Status[] = ['failed', 'in_progress', 'stopped', 'skipped', 'other', 'pending'];
  return order.find((it) => counts[it] > 0) ?? 'passed';
}

/** `44/50 passed, 2 failed, 4 skipped`; what a newer sidecar says comes last, in its words. */
export function summary(nodes: readonly RunNode[], t: Translate): string {
  const { passed, failed, skipped, stopped, in_progress: working } = countsOf(nodes);
  const parts = [t('{0}/{1} passed', passed, nodes.length)];
  if (failed > 0) parts.push(t('{0} failed', failed));
  if (skipped > 0) parts.push(t('{0} skipped', skipped));
  if (working > 0) parts.push(t('{0} running', working));
  if (stopped > 0) parts.push(t('{0} stopped', stopped));
  for (const word of new Set(nodes.flatMap((it) => it.word ?? []))) {
    parts.push(`${nodes.filter((it) => it.word === word).length} ${word}`);
  }
  return parts.join(', ');
}

/** How a node stands. */
export function standingOf(node: Pick<RunNode, 'status' | 'word'>, t: Translate): string {
  return node.word ?? statusWords(node.status, t);
}

export function statusWords(status: Status, t: Translate): string {
  switch (status) {
    case 'in_progress':
      return t('running');
    case 'failed':
      return t('failed');
    case 'skipped':
      return t('skipped');
    case 'stopped':
      return t('stopped');
    case 'pending':
      return t('pending');
    case 'passed':
      return t('passed');
    case 'other':
      return t('unknown');
  }
}

/** What stands behind a node's name: its stage while it is worked on, else how it stands. */
export function described(node: RunNode, t: Translate): string {
  const working = node.status === 'in_progress' && node.stage !== undefined;
  return working ? node.stage : standingOf(node, t);
}

/** The menus that fit: `node failed`, `task passed`. */
export function contextOf(node: RunNode, kind: RunKind | undefined): string {
  return `${kind === 'tasks' ? 'task' : 'node'} ${node.status}`;
}

/** The line, from 1, in which a list of tasks has this id; none where it is written in another way. */
export function lineOf(list: string, id: string): number | undefined {
  const at = list.split('\n').findIndex((it) => it.replaceAll(/\s/g, '').includes(`"id":${spaceless(id)}`));
  return at < 0 ? undefined : at + 1;
}

/**
 * The failed nodes of a run in the file of its graph, by their lines from 1: in the one that it was started with, and in the one
 * that it exports.
 */
export function failedIn(
  run: Pick<Run, 'out' | 'graph' | 'nodes'> | undefined,
  path: string,
  text: string,
): readonly (readonly [line: number, node: RunNode])[] {
  if (run === undefined || (path !== run.graph && path !== `${run.out}/docs/rpg.json`)) return [];
  const failed = [...run.nodes.values()].filter((it) => it.status === 'failed');
  return failed.flatMap((node) => {
    const line = lineOf(text, node.id);
    return line === undefined ? [] : [[line, node] as const];
  });
}

function spaceless(id: string): string {
  return JSON.stringify(id).replaceAll(/\s/g, '');
}
