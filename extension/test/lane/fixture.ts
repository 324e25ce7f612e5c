// The main fixture: a planning graph, and recorded replies of a model.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
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
