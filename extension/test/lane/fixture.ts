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

/** Counts the leaves by their final status. */
export function endings(): Readonly<Record<string, number>> {
  const expected: Record<string, { status: string }> = JSON.parse(
    readFileSync(join(home, 'expected.json'), 'utf8'),
  );
  const counts: Record<string, number> = {};
  for (const { status } of Object.values(expected)) counts[status] = (counts[status] ?? 0) + 1;
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
