// What package.json promises.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const extension = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension');
const manifest = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));

test('no workspace is searched for whether the extension is wanted', () => {
  const events: string[] = manifest.activationEvents;
  const searches = events.filter((it) => it.startsWith('workspaceContains:') && it.includes('**'));
  assert.deepEqual(searches, []);
});
