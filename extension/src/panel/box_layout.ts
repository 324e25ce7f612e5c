// Picture of a graph: a box for each subgraph, open ones with their nodes, closed ones with the edges of their nodes.
import { placeNodes } from './layout';

/** A node with the ids of its dependencies. */
export interface BoxedNode {
  readonly id: string;
  readonly name: string;
  readonly subgraph: string;
  readonly needs: readonly string[];
}

export interface Point {
  /** Pixels at zoom 1; of boxes and nodes the centre. */
  readonly x: number;
  readonly y: number;
}

export interface PlacedBox extends Point {
  readonly subgraph: string;
  readonly width: number;
  readonly height: number;
  readonly isOpen: boolean;
  /** Ids of its nodes, in the order of the plan. */
  readonly ids: readonly string[];
}

/** An edge between nodes and closed boxes, from the dependency to the dependent. */
export interface DrawnLink {
  readonly from: string;
  readonly to: string;
  /** Number of edges of the plan that it stands for. */
  readonly count: number;
}

export interface GraphPicture {
  readonly boxes: readonly PlacedBox[];
  /** Places of the nodes in open boxes, by id. */
  readonly places: ReadonlyMap<string, Point>;
  readonly links: readonly DrawnLink[];
}

/** Width of a column: room for the longest name, within limits. */
const COLUMN_WIDTHS = { least: 120, most: 280, character: 8, others: 56 };
const ROW_HEIGHT = 34;
const PADDING = 24;
/** Room for the name of an open box. */
const HEADER = 40;
const GAP = 60;
/** Distance of the bands of columns in a box. */
const BAND_GAP = 24;
const CLOSED = { width: 260, height: 90 };

/** Returns the id of a closed box among the ends of edges; no node has such an id. */
export function boxId(subgraph: string): string {
  return `\u0000${subgraph}`;
}

/**
 * Makes the picture.
 * @param open names of the open subgraphs
 * @param aspect width of the window by its height
 */
export function drawBoxes(
  nodes: readonly BoxedNode[],
  open: ReadonlySet<string>,
  aspect: number,
): GraphPicture {
  const groups = grouped(nodes, (it) => it.subgraph);
  const ordered = inOrder(groups, nodes).map((subgraph) =>
    sized(subgraph, groups.get(subgraph) ?? [], open, aspect),
  );
  const corners = packed(ordered, aspect);
  const places = new Map<string, Point>();
  const boxes = ordered.map((box, at): PlacedBox => {
    const { x: left, y: top } = corners[at] ?? { x: 0, y: 0 };
    for (const [id, { x, y }] of box.inner) places.set(id, { x: left + x, y: top + y });
    const { subgraph, width, height, isOpen, ids } = box;
    return { subgraph, width, height, isOpen, ids, x: left + width / 2, y: top + height / 2 };
  });
  return { boxes, places, links: linksOf(nodes, open) };
}

interface SizedBox {
  readonly subgraph: string;
  readonly width: number;
  readonly height: number;
  readonly isOpen: boolean;
  readonly ids: readonly string[];
  /** Places of the nodes from the upper left corner. */
  readonly inner: ReadonlyMap<string, Point>;
}

function sized(
  subgraph: string,
  nodes: readonly BoxedNode[],
  open: ReadonlySet<string>,
  aspect: number,
): SizedBox {
  const ids = nodes.map((it) => it.id);
  if (!open.has(subgraph)) return { subgraph, ...CLOSED, isOpen: false, ids, inner: new Map() };
  const columns = columnsOf(nodes);
  const columnWidth = columnWidthOf(nodes);
  // Many numbers of bands give bands of the same size.
  const sizes = new Set(columns.map((_, at) => Math.ceil(columns.length / (at + 1))));
  const tried = [...sizes].map((it) => banded(columns, it, columnWidth));
  // A further band has to be worth the edges that lead back.
  const extent = ({ width, height, bands }: Banded) => Math.max(width / aspect, height) * (1 + bands / 4);
  const { width, height, inner } = tried.reduce((best, it) => (extent(it) < extent(best) ? it : best));
  return { subgraph, width, height, isOpen: true, ids, inner };
}

interface Banded {
  readonly bands: number;
  readonly width: number;
  readonly height: number;
  readonly inner: ReadonlyMap<string, Point>;
}

/** Lays columns out in bands of a size, one below the other. */
function banded(columns: readonly (readonly string[])[], size: number, columnWidth: number): Banded {
  const inner = new Map<string, Point>();
  let top = HEADER;
  for (let first = 0; first < columns.length; first += size) {
    const band = columns.slice(first, first + size);
    const rows = Math.max(...band.map((it) => it.length));
    for (const [at, column] of band.entries()) {
      for (const [row, id] of column.entries()) {
        const line = row + 0.5 + (rows - column.length) / 2;
        inner.set(id, { x: PADDING + 10 + at * columnWidth, y: top + line * ROW_HEIGHT });
      }
    }
    top += rows * ROW_HEIGHT + BAND_GAP;
  }
  const height = Math.max(top - BAND_GAP + PADDING, CLOSED.height);
  const bands = Math.ceil(columns.length / size);
  return { bands, width: size * columnWidth + PADDING, height, inner };
}

function columnWidthOf(nodes: readonly BoxedNode[]): number {
  const { least, most, character, others } = COLUMN_WIDTHS;
  const longest = Math.max(...nodes.map((it) => it.name.length));
  return Math.min(most, Math.max(least, longest * character + others));
}

/** Returns the ids by column, dependencies to the left; long layers take several columns. */
function columnsOf(nodes: readonly BoxedNode[]): string[][] {
  const longest = Math.max(6, Math.ceil(Math.sqrt(nodes.length) * 2));
  const layers = grouped(placeNodes(nodes), (it) => it.layer);
  return [...layers]
    .sort(([a], [b]) => a - b)
    .flatMap(([, layer]) => {
      const ids = layer.map((it) => it.id);
      const count = Math.ceil(ids.length / longest);
      const size = Math.ceil(ids.length / count);
      return Array.from({ length: count }, (_, at) => ids.slice(at * size, (at + 1) * size));
    });
}

/** Orders the subgraphs so that dependencies come first, as far as they are in no circle. */
function inOrder(groups: ReadonlyMap<string, readonly BoxedNode[]>, nodes: readonly BoxedNode[]): string[] {
  const home = new Map(nodes.map((it) => [it.id, it.subgraph]));
  const boxes = [...groups].map(([id, own]) => {
    const needs = own.flatMap((it) => it.needs.flatMap((other) => home.get(other) ?? []));
    return { id, needs: [...new Set(needs)].filter((it) => it !== id) };
  });
  const layers = new Map(placeNodes(boxes).map((it) => [it.id, it.layer]));
  return [...groups.keys()].sort((a, b) => (layers.get(a) ?? 0) - (layers.get(b) ?? 0));
}

/** Packs boxes into rows, like words of a text, in the width that makes the whole largest in the window. */
function packed(boxes: readonly SizedBox[], aspect: number): readonly Point[] {
  const widest = Math.max(0, ...boxes.map((it) => it.width));
  const all = boxes.reduce((sum, it) => sum + it.width + GAP, 0);
  const widths = Array.from({ length: 24 }, (_, at) => widest + ((all - widest) * at) / 23);
  const tried = widths.map((width) => rows(boxes, width));
  const extent = ({ width, height }: (typeof tried)[number]) => Math.max(width / aspect, height);
  return tried.reduce((best, it) => (extent(it) < extent(best) ? it : best)).corners;
}

function rows(boxes: readonly SizedBox[], most: number) {
  const corners: Point[] = [];
  let [x, y, height, width] = [0, 0, 0, 0];
  for (const box of boxes) {
    if (x > 0 && x + box.width > most) [x, y, height] = [0, y + height + GAP, 0];
    corners.push({ x, y });
    width = Math.max(width, x + box.width);
    x += box.width + GAP;
    height = Math.max(height, box.height);
  }
  return { corners, width, height: y + height };
}

/** Returns the edges between what is visible. */
function linksOf(nodes: readonly BoxedNode[], open: ReadonlySet<string>): DrawnLink[] {
  const seen = new Map(nodes.map((it) => [it.id, open.has(it.subgraph) ? it.id : boxId(it.subgraph)]));
  const links = new Map<string, DrawnLink>();
  for (const { id, needs } of nodes) {
    for (const need of needs) {
      const [from, to] = [seen.get(need), seen.get(id)];
      if (from === undefined || to === undefined || from === to) continue;
      const key = `${from}\n${to}`;
      links.set(key, { from, to, count: (links.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...links.values()];
}

function grouped<T, K>(all: readonly T[], keyOf: (it: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const it of all) {
    const group = groups.get(keyOf(it));
    if (group === undefined) groups.set(keyOf(it), [it]);
    else group.push(it);
  }
  return groups;
}
