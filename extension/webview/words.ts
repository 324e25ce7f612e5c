// Words about nodes and boxes, for names and for screen readers.
import type { DrawnNode } from '../src/panel/graph_messages';
import { formatted, texts } from './page';

/** Returns the status of a node. */
export type StatusOf = (id: string) => string | undefined;

/** Counts the nodes of a box by status. */
export function countsText(ids: readonly string[], status: StatusOf): string {
  const count = (wanted: string) => ids.filter((id) => status(id) === wanted).length;
  const others = ['failed', 'skipped', 'in_progress', 'stopped'].flatMap((it) => {
    const number = count(it);
    return number === 0 ? [] : [`${number} ${texts.states[it] ?? it}`];
  });
  const isPlanned = count('pending') === ids.length;
  const first = isPlanned
    ? formatted(texts.planned, ids.length)
    : formatted(texts.counts, count('passed'), ids.length);
  return [first, ...others].join(', ');
}

/** Describes a node with its status and the number of its neighbours. */
export function nodeText(
  node: DrawnNode,
  nodes: ReadonlyMap<string, DrawnNode>,
  status: string | undefined,
): string {
  const needs = node.needs.filter((it) => nodes.has(it)).length;
  const needed = [...nodes.values()].filter((it) => it.needs.includes(node.id)).length;
  const state = texts.states[status ?? ''] ?? '';
  return formatted(texts.node, node.name, state, node.subgraph, formatted(texts.needs, needs, needed));
}
