// Messages between the extension and the page of the planning graph.
import type { Run, RunNode, Status } from '../run/run_state';
import { placeNodes } from './layout';

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
  /** Id of the dependency. */
  readonly from: string;
  /** Id of the dependent node. */
  readonly to: string;
}

/** Messages to the page. */
export type ToPage =
  | {
      readonly type: 'graph';
      readonly out: string;
      readonly nodes: readonly DrawnNode[];
      readonly edges: readonly DrawnEdge[];
    }
  | { readonly type: 'states'; readonly states: readonly (readonly [string, Status])[] }
  | { readonly type: 'select'; readonly id: string };

/** Messages from the page. */
export type FromPage =
  /** The page is ready; a restored page has a selected node. */
  | { readonly type: 'ready'; readonly chosen: string | undefined }
  | { readonly type: 'open' | 'tests' | 'retry' | 'selected'; readonly id: string };

export function graphMessage(run: Run): Extract<ToPage, { type: 'graph' }> {
  const places = new Map(placeNodes([...run.nodes.values()]).map((it) => [it.id, it]));
  const nodes = [...run.nodes.values()].map((it) => drawnNode(it, places.get(it.id)));
  const edges = nodes.flatMap(({ id }) => (run.nodes.get(id)?.needs ?? []).map((from) => ({ from, to: id })));
  return { type: 'graph', out: run.out, nodes, edges };
}

export function statesMessage(run: Run, changed: Iterable<string>): Extract<ToPage, { type: 'states' }> {
  const states = [...changed].flatMap((id) => {
    const node = run.nodes.get(id);
    return node === undefined ? [] : [[id, node.status] as const];
  });
  return { type: 'states', states };
}

/** Reads a message of the page; `undefined` for others. */
export function parseMessage(message: unknown): FromPage | undefined {
  const { type, id, chosen } = { ...NO_FIELDS, ...(typeof message === 'object' ? message : {}) };
  if (type === 'ready') return { type, chosen: typeof chosen === 'string' ? chosen : undefined };
  const known = type === 'open' || type === 'tests' || type === 'retry' || type === 'selected';
  return known && typeof id === 'string' ? { type, id } : undefined;
}

const NO_FIELDS = { type: undefined, id: undefined, chosen: undefined };

function drawnNode(node: RunNode, place: { layer: number; x: number; y: number } | undefined): DrawnNode {
  const { id, name, subgraph, status } = node;
  return { id, name, subgraph, status, layer: place?.layer ?? 0, x: place?.x ?? 0, y: place?.y ?? 0 };
}
