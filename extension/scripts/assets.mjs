// Copies the demo, which is made elsewhere: a package has no links.
import { cpSync, mkdirSync } from 'node:fs';

const extension = new URL('../', import.meta.url);

export function demonstration() {
  const [from, to] = [new URL('../fixtures/ml-library/', extension), new URL('demo/', extension)];
  mkdirSync(to, { recursive: true });
  for (const file of ['rpg.json', 'replies.jsonl']) cpSync(new URL(file, from), new URL(file, to));
}
