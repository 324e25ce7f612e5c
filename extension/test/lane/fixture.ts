// The master fixture: a planning graph, and what a model replied when it was grown.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './lanes';

const home = join(repository, 'fixtures', 'ml-library');

/** What a model replied, as the setting `trellis.model` wants it. */
export const recorded = `recorded:${join(home, 'replies.jsonl')}`;

/** Puts the graph into a new folder, and returns the folder. */
export function planned(below: string): string {
  const folder = join(below, 'plans');
  mkdirSync(folder);
  copyFileSync(join(home, 'rpg.json'), join(folder, 'rpg.json'));
  return folder;
}

/** How its leaves end, counted by state. */
export function endings(): Readonly<Record<string, number>> {
  const expected: Record<string, { status: string }> = JSON.parse(
    readFileSync(join(home, 'expected.json'), 'utf8'),
  );
  const counts: Record<string, number> = {};
  for (const { status } of Object.values(expected)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
