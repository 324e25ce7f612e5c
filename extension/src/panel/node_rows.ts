// Rows of the tree of nodes, with their texts.

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

/** Reason of a failed or skipped node, below it. */
export interface ReasonRow {
  readonly kind: 'reason';
  readonly id: string;
}

export type Row = GroupRow | NodeRow | ReasonRow;

export type Filter = ReadonlySet<Status>;

/** Nodes by subgraph. */
export type Groups = ReadonlyMap<string, readonly RunNode[]>;

export const ALL_STATUSES: Filter = new Set(STATUSES);

/** Icons of the statuses, with the editor's colours for them. */
export const STATUS_ICONS: Readonly<Record<Status, { readonly icon: string; readonly colour?: string }>> = {
  in_progress: { icon: 'sync~spin', colour: 'charts.blue' },
  failed: { icon: 'error', colour: 'testing.iconFailed' },
  skipped: { icon: 'debug-step-over', colour: 'testing.iconSkipped' },
  stopped: { icon: 'debug-pause', colour: 'testing.iconSkipped' },
  pending: { icon: 'circle-outline' },
  passed: { icon: 'pass', colour: 'testing.iconPassed' },
  other: { icon: 'question' },
};

/**
 * Groups the nodes of a run that pass the filter by subgraph, in the order of the plan. Unknown statuses always pass.
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

/** Returns the subgraphs whose nodes changed; `all` if subgraphs were added or removed. */
export function changedGroups(before: Groups, after: Groups): 'all' | readonly string[] {
  const names = [...after.keys()];
  const known = [...before.keys()];
  if (names.length !== known.length || names.some((it, at) => it !== known[at])) return 'all';
  return names.filter((it) => !isSameGroup(before.get(it) ?? [], after.get(it) ?? []));
}

function isSameGroup(before: readonly RunNode[], after: readonly RunNode[]): boolean {
  return before.length === after.length && before.every((it, at) => it === after[at]);
}

/** Returns the keys of rows that do not belong to the run any more. */
export function staleKeys(rows: Iterable<readonly [string, Row]>, run: Run | undefined): readonly string[] {
  const subgraphs = new Set([...(run?.nodes.values() ?? [])].map((it) => it.subgraph));
  const isThere = (row: Row) =>
    row.kind === 'group' ? subgraphs.has(row.subgraph) : run?.nodes.has(row.id) === true;
  return [...rows].filter(([, row]) => !isThere(row)).map(([key]) => key);
}

/** Returns the most important status of a subgraph: failures first, then running nodes, then waiting ones. */
export function groupStatus(nodes: Iterable<RunNode>): Status {
  const counts = countsOf(nodes);
  const order: readonly Status[] = ['failed', 'in_progress', 'stopped', 'skipped', 'other', 'pending'];
  return order.find((it) => counts[it] > 0) ?? 'passed';
}

/**
 * Counts nodes by status: `44/50 passed, 2 failed, 4 skipped`; statuses of newer sidecars come last, in their words.
 */
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

/** Describes the status of a node. */
export function statusText(node: Pick<RunNode, 'status' | 'word'>, t: Translate): string {
  return node.word ?? statusName(node.status, t);
}

/** Describes a status as the sidecar writes it; an unknown one in its own words. */
export function statusNamed(word: string, t: Translate): string {
  const status = STATUSES.find((it) => it === word);
  return status === undefined ? word : statusName(status, t);
}

export function statusName(status: Status, t: Translate): string {
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

/** Describes a node: its stage while it runs, else its status. */
export function descriptionOf(node: RunNode, t: Translate): string {
  const working = node.status === 'in_progress' && node.stage !== undefined;
  return working ? node.stage : statusText(node, t);
}

/** Makes the context value for menus: `node failed`, `task passed`. */
export function contextOf(node: RunNode, kind: RunKind | undefined): string {
  return `${kind === 'tasks' ? 'task' : 'node'} ${node.status}`;
}

/** Finds the line, from 1, with the id in a task list or graph; `undefined` if it is formatted in another way. */
export function lineOf(list: string, id: string): number | undefined {
  const at = list
    .split('\n')
    .findIndex((it) => it.replaceAll(/\s/g, '').includes(`"id":${withoutSpaces(id)}`));
  return at < 0 ? undefined : at + 1;
}

/**
 * Finds the failed nodes of a run in the file of its graph, with their lines from 1: in the one that it was started
 * with, or in the exported one.
 */
export function failedIn(
  run: Pick<Run, 'out' | 'graph' | 'nodes'> | undefined,
  path: string,
  text: () => string,
): readonly (readonly [line: number, node: RunNode])[] {
  if (run === undefined || (path !== run.graph && path !== `${run.out}/docs/rpg.json`)) return [];
  const failed = [...run.nodes.values()].filter((it) => it.status === 'failed');
  const shown = failed.length === 0 ? '' : text();
  return failed.flatMap((node) => {
    const line = lineOf(shown, node.id);
    return line === undefined ? [] : [[line, node] as const];
  });
}

function withoutSpaces(id: string): string {
  return JSON.stringify(id).replaceAll(/\s/g, '');
}
