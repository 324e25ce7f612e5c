// The main fixture: a planning graph, and recorded replies of a model.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './lanes';

const home = join(repository, 'fixtures', 'ml-library');

/** Value of `trellis.model` for the recorded replies. */
export const recorded = `recorded:${join(home, 'replies.jsonl')}`;

/** Copies the graph into a new folder, and returns the folder. */
export function planned(below: string): string {
  const folder = join(below, 'plans');
  mkdirSync(folder);
  copyFileSync(join(home, 'rpg.json'), join(folder, 'rpg.json'));
  return folder;
}

/** Writes these subgraphs of the graph, which need no others, into a new folder, and returns the folder. */
export function plannedPart(below: string, subgraphs: readonly string[]): string {
  const folder = planned(below);
  const path = join(folder, 'rpg.json');
  const graph: Graph = JSON.parse(readFileSync(path, 'utf8'));
  const nodes = graph.nodes.filter((it) => subgraphs.includes(it.subgraph_id));
  const ids = new Set(nodes.map((it) => it.id));
  const edges = graph.edges.filter((it) => ids.has(it.source) && ids.has(it.target));
  writeFileSync(path, JSON.stringify({ ...graph, nodes, edges }, undefined, 2));
  return folder;
}

interface Graph {
  readonly nodes: readonly { readonly id: string; readonly subgraph_id: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** Counts the leaves of these subgraphs by their final status. */
export function endings(subgraphs: readonly string[]): Readonly<Record<string, number>> {
  const read = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));
  const expected: Record<string, { status: string }> = read('expected.json');
  const counts: Record<string, number> = {};
  for (const node of (read('rpg.json') as Graph).nodes) {
    const status = subgraphs.includes(node.subgraph_id) ? expected[node.id]?.status : undefined;
    if (status !== undefined) counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** Names of the subgraphs of a large plan. */
export const subgraphs = [
  ...['ingest', 'cleaning', 'features', 'storage', 'models'],
  ...['training', 'evaluation', 'serving', 'reports', 'monitoring'],
];

/** Writes a plan of ten subgraphs with 50 nodes each; returns the folder. */
export function plannedLarge(below: string): string {
  const folder = join(below, 'large');
  mkdirSync(folder);
  const nodes = subgraphs.flatMap((subgraph, box) =>
    Array.from({ length: 50 }, (_, at) => {
      const name = `${subgraph}_step_${String(at).padStart(2, '0')}`;
      const before = at % 7 === 0 ? [] : [`${subgraph}.${at - 1 - (at % 3 === 0 ? 1 : 0)}`];
      const other = box > 0 && at % 10 === 0 ? [`${subgraphs[box - 1]}.${at}`] : [];
      return {
        id: `${subgraph}.${at}`,
        name,
        type: 'function',
        node_type: 'leaf',
        file_path: `src/lib/${subgraph}/part_${Math.floor(at / 10)}.py`,
        signature: `def ${name}(x: int) -> int`,
        docstring: `Return x plus ${at}.`,
        subgraph_id: subgraph,
        dependencies: [...before.filter((it) => !it.includes('.-')), ...other],
      };
    }),
  );
  writeFileSync(join(folder, 'rpg.json'), JSON.stringify({ nodes, edges: [] }, undefined, 2));
  return folder;
}
