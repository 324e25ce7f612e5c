// Where nodes of a picture lie: layers from left to right, each node right of all that it needs (Sugiyama, Tagawa and
// Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981; crossings by the barycentre rule).

export interface Arranged {
  readonly id: string;
  /** Layer, from 0. */
  readonly layer: number;
  /** Pixels of the picture at its natural size. */
  readonly x: number;
  readonly y: number;
}

export interface Needy {
  readonly id: string;
  readonly needs: readonly string[];
}

const ACROSS = 220;
const DOWN = 44;
/** So often each layer is put in the order of its neighbours' middles. */
const SWEEPS = 4;

/** The places of nodes; those of a circle lie as if the edge that closes it were not there. */
export function arranged(nodes: readonly Needy[]): readonly Arranged[] {
  const needs = new Map(nodes.map((it) => [it.id, it.needs]));
  const layers = grouped(nodes, layersOf(nodes, needs));
  const needed = reversed(nodes);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    if (sweep % 2 === 0) straighten(layers, needs);
    else straighten([...layers].reverse(), needed);
  }
  const tallest = Math.max(...layers.map((it) => it.length), 0);
  return layers.flatMap((ids, layer) =>
    ids.map((id, row) => ({
      id,
      layer,
      x: layer * ACROSS,
      y: (row + (tallest - ids.length) / 2) * DOWN,
    })),
  );
}

/** The longest way to each node from one that needs nothing; without recursion, for plans as deep as they like. */
function layersOf(
  nodes: readonly Needy[],
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

function grouped(nodes: readonly Needy[], layers: ReadonlyMap<string, number>): string[][] {
  const all: string[][] = [];
  for (const { id } of nodes) {
    const layer = layers.get(id) ?? 0;
    while (all.length <= layer) all.push([]);
    all[layer]?.push(id);
  }
  return all;
}

function reversed(nodes: readonly Needy[]): Map<string, string[]> {
  const needed = new Map<string, string[]>(nodes.map((it) => [it.id, []]));
  for (const { id, needs } of nodes) for (const it of needs) needed.get(it)?.push(id);
  return needed;
}

/** Orders each layer by the mean place of what its nodes are tied to in the layers before. */
function straighten(layers: readonly string[][], around: ReadonlyMap<string, readonly string[]>): void {
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
