// The picture of a graph as values: boxes, search, and the words about a plan.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l10n } from 'vscode';
import {
  type BoxedNode,
  boxId,
  drawBoxes,
  type GraphPicture,
  type PlacedBox,
} from '../../src/panel/box_layout';
import { findNodes } from '../../src/panel/node_search';
import { planSummary } from '../../src/panel/plan_summary';

/** Makes a graph of `boxes` subgraphs with `each` nodes; each box needs the one before. */
function graph(boxes: number, each: number): BoxedNode[] {
  return Array.from({ length: boxes * each }, (_, at) => {
    const [box, row] = [Math.floor(at / each), at % each];
    const inner = row % 5 === 0 ? [] : [`${box}/${row - 1}`];
    return {
      id: `${box}/${row}`,
      name: `node ${row}`,
      subgraph: `s${box}`,
      needs: box === 0 ? inner : [...inner, `${box - 1}/${row}`],
    };
  });
}

function overlap(a: PlacedBox, b: PlacedBox): boolean {
  const apart = (x: number, y: number, sum: number) => Math.abs(x - y) >= sum / 2;
  return !apart(a.x, b.x, a.width + b.width) && !apart(a.y, b.y, a.height + b.height);
}

function extent({ boxes }: GraphPicture): [number, number] {
  return [
    Math.max(...boxes.map((it) => it.x + it.width / 2)),
    Math.max(...boxes.map((it) => it.y + it.height / 2)),
  ];
}

test('boxes do not overlap, and open ones hold their nodes', () => {
  const nodes = graph(10, 50);
  for (const open of [[], ['s3'], ['s0', 's9'], nodes.map((it) => it.subgraph)]) {
    const picture = drawBoxes(nodes, new Set(open), 1.6);
    const { boxes, places } = picture;
    assert.equal(boxes.length, 10);
    assert.equal(places.size, 50 * new Set(open).size);
    for (const [at, box] of boxes.entries()) {
      assert.ok(!boxes.slice(at + 1).some((it) => overlap(box, it)), box.subgraph);
      for (const id of box.isOpen ? box.ids : []) {
        const { x, y } = places.get(id) ?? assert.fail(id);
        assert.ok(Math.abs(x - box.x) < box.width / 2 && Math.abs(y - box.y) < box.height / 2, id);
      }
    }
    assert.equal(new Set([...places.values()].map((it) => `${it.x} ${it.y}`)).size, places.size);
  }
});

test('ten closed boxes fill a window in the order of their dependencies', () => {
  const picture = drawBoxes(graph(10, 50), new Set(), 1.6);
  assert.deepEqual(
    picture.boxes.map((it) => it.subgraph),
    Array.from({ length: 10 }, (_, at) => `s${at}`),
  );
  const [width, height] = extent(picture);
  assert.ok(width / height > 0.8 && width / height < 3.2, `${width} by ${height}`);
});

test('closed boxes take the edges of their nodes', () => {
  const nodes = graph(2, 3);
  const closed = drawBoxes(nodes, new Set(), 1);
  assert.deepEqual(closed.links, [{ from: boxId('s0'), to: boxId('s1'), count: 3 }]);
  const half = drawBoxes(nodes, new Set(['s1']), 1).links;
  assert.ok(half.some((it) => it.from === boxId('s0') && it.to === '1/2'));
  assert.ok(half.some((it) => it.from === '1/0' && it.to === '1/1'));
});

test('boxes that need each other are drawn as well', () => {
  const nodes = [
    { id: 'a', name: 'a', subgraph: 'x', needs: ['b'] },
    { id: 'b', name: 'b', subgraph: 'y', needs: ['a'] },
  ];
  assert.equal(drawBoxes(nodes, new Set(['x']), 1).boxes.length, 2);
});

test('a search prefers whole names, then beginnings, then parts', () => {
  const nodes = ['mean', 'mean_of', 'data_mean', 'other'].map((name) => ({ id: `d.${name}`, name }));
  assert.deepEqual(findNodes(nodes, ' MEAN '), ['d.mean', 'd.mean_of', 'd.data_mean']);
  assert.deepEqual(findNodes(nodes, 'd.other'), ['d.other']);
  assert.deepEqual(findNodes(nodes, ''), []);
});

test('a plan is described by its size and by what a run will probably cost', () => {
  const cost = (requests: number, tokens: number, usd: number) => ({ requests, tokens, usd });
  const plan = {
    nodes: 50,
    subgraphs: 5,
    levels: 4,
    chain: ['a', 'b', 'c', 'd'],
    problems: 0,
    least: cost(100, 90_000, 0.031),
    usual: cost(224, 180_000, 0.08),
    model: 'openai:m',
    noModel: null,
  };
  assert.equal(
    planSummary(plan, 'generate', l10n.t),
    '50 nodes in 5 subgraphs · 4 levels · longest chain 4 · about 100–224 requests, 90k–180k tokens, $0.03–$0.08 with openai:m',
  );
  const small = { ...plan, nodes: 1, subgraphs: 1, levels: 1, chain: ['a'] };
  assert.match(
    planSummary(small, 'generate', l10n.t),
    /^1 node in 1 subgraph · 1 level · longest chain 1 · /,
  );
  const unknown = { requests: 4, tokens: null, usd: null };
  const tasks = {
    ...plan,
    nodes: 2,
    least: unknown,
    usual: unknown,
    model: null,
    noModel: 'no model is configured',
  };
  assert.equal(
    planSummary(tasks, 'tasks', l10n.t),
    '2 tasks · 4 levels · longest chain 4 · about 4 requests; no model is configured',
  );
});
