// Layered layout of a graph, from left to right, each node right of its dependencies (Sugiyama, Tagawa and Toda,
// "Methods for Visual Understanding of Hierarchical System Structures", 1981; crossings by the barycentre rule).

export interface PlacedNode {
  readonly id: string;
  /** Layer, from 0. */
  readonly layer: number;
  /** Position in pixels at zoom 1. */
  readonly x: number;
  readonly y: number;
}

export interface LayoutNode {
  readonly id: string;
  readonly needs: readonly string[];
}

const LAYER_WIDTH = 220;
const ROW_HEIGHT = 44;
/** Number of passes that order the layers. */
const SWEEPS = 4;

/** Places the nodes; an edge that closes a cycle is ignored. */
export function placeNodes(nodes: readonly LayoutNode[]): readonly PlacedNode[] {
  const needs = new Map(nodes.map((it) => [it.id, it.needs]));
  const layers = nodesByLayer(nodes, layersOf(nodes, needs));
  const needed = dependentsOf(nodes);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    if (sweep % 2 === 0) orderLayers(layers, needs);
    else orderLayers([...layers].reverse(), needed);
  }
  const tallest = Math.max(...layers.map((it) => it.length), 0);
  return layers.flatMap((ids, layer) =>
    ids.map((id, row) => ({
      id,
      layer,
      x: layer * LAYER_WIDTH,
      y: (row + (tallest - ids.length) / 2) * ROW_HEIGHT,
    })),
  );
}

/**
 * Finds the layer of each node: the length of the longest path from a node without dependencies. Iterative, for plans
 * of any depth.
 */
function layersOf(
  nodes: readonly LayoutNode[],
  needs: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const layers = new Map<string, number>();
  const open = new Set<string>();
  for (const { id: start } of nodes) {
    const stack = [start];
    for (let id = stack.at(-1); id !== undefined; id = stack.at(-1)) {
      const own = (needs.get(id) ?? []).filter((it) => needs.has(it));
      const next = open.has(id) ? undefined : own.filter((it) => !layers.has(it) && !open.has(it));
      if (layers.has(id) || next === undefined || next.length === 0) {
        stack.pop();
        open.delete(id);
        if (!layers.has(id)) layers.set(id, Math.max(-1, ...own.map((it) => layers.get(it) ?? -1)) + 1);
      } else {
        open.add(id);
        stack.push(...next);
      }
    }
  }
  return layers;
}

function nodesByLayer(nodes: readonly LayoutNode[], layers: ReadonlyMap<string, number>): string[][] {
  const all: string[][] = [];
  for (const { id } of nodes) {
    const layer = layers.get(id) ?? 0;
    while (all.length <= layer) all.push([]);
    all[layer]?.push(id);
  }
  return all;
}

function dependentsOf(nodes: readonly LayoutNode[]): Map<string, string[]> {
  const needed = new Map<string, string[]>(nodes.map((it) => [it.id, []]));
  for (const { id, needs } of nodes) for (const it of needs) needed.get(it)?.push(id);
  return needed;
}

/** Orders each layer by the mean position of the neighbors in the previous layers. */
function orderLayers(layers: readonly string[][], around: ReadonlyMap<string, readonly string[]>): void {
  const places = new Map(layers.flatMap((ids) => ids.map((id, row) => [id, row] as const)));
  for (const ids of layers) {
    const middle = new Map(ids.map((id, row) => [id, mean(around.get(id) ?? [], places) ?? row]));
    ids.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
    ids.forEach((id, row) => {
      places.set(id, row);
    });
  }
}

function mean(ids: readonly string[], places: ReadonlyMap<string, number>): number | undefined {
  const known = ids.flatMap((it) => places.get(it) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, it) => sum + it, 0) / known.length;
}
