// What the extension and the page of the planning graph say to each other.
import type { Run, RunNode, Status } from '../run/run_state';
import { arranged } from './layout';

export interface DrawnNode {
  readonly id: string;
  readonly name: string;
  readonly subgraph: string;
  readonly status: Status;
  readonly layer: number;
  readonly x: number;
  readonly y: number;
}

export interface DrawnEdge {
  /** What is needed. */
  readonly from: string;
  /** Who needs it. */
  readonly to: string;
}

/** To the page. */
export type Said =
  | {
      readonly type: 'graph';
      readonly out: string;
      readonly nodes: readonly DrawnNode[];
      readonly edges: readonly DrawnEdge[];
    }
  | { readonly type: 'states'; readonly states: readonly (readonly [string, Status])[] }
  | { readonly type: 'select'; readonly id: string };

/** From the page. */
export type Asked =
  /** It may come back with a node chosen. */
  | { readonly type: 'ready'; readonly chosen: string | undefined }
  | { readonly type: 'open' | 'tests' | 'retry' | 'selected'; readonly id: string };

export function graphOf(run: Run): Extract<Said, { type: 'graph' }> {
  const places = new Map(arranged([...run.nodes.values()]).map((it) => [it.id, it]));
  const nodes = [...run.nodes.values()].map((it) => drawn(it, places.get(it.id)));
  const edges = nodes.flatMap(({ id }) => (run.nodes.get(id)?.needs ?? []).map((from) => ({ from, to: id })));
  return { type: 'graph', out: run.out, nodes, edges };
}

export function statesOf(run: Run, changed: Iterable<string>): Extract<Said, { type: 'states' }> {
  const states = [...changed].flatMap((id) => {
    const node = run.nodes.get(id);
    return node === undefined ? [] : [[id, node.status] as const];
  });
  return { type: 'states', states };
}

/** What a page said; nothing where it is none of ours. */
export function askedOf(message: unknown): Asked | undefined {
  const { type, id, chosen } = { ...nothing, ...(typeof message === 'object' ? message : {}) };
  if (type === 'ready') return { type, chosen: typeof chosen === 'string' ? chosen : undefined };
  const known = type === 'open' || type === 'tests' || type === 'retry' || type === 'selected';
  return known && typeof id === 'string' ? { type, id } : undefined;
}

const nothing = { type: undefined, id: undefined, chosen: undefined };

function drawn(node: RunNode, place: { layer: number; x: number; y: number } | undefined): DrawnNode {
  const { id, name, subgraph, status } = node;
  return { id, name, subgraph, status, layer: place?.layer ?? 0, x: place?.x ?? 0, y: place?.y ?? 0 };
}
