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

test('no setting of ours changes how the files of others look', () => {
  const { configurationDefaults, languages, grammars } = manifest.contributes;
  const own: string[] = languages.map((it: { id: string }) => `[${it.id}]`);
  assert.deepEqual(Object.keys(configurationDefaults), own);
  // Only addresses of ours have this language, and it has the colours of Python.
  assert.deepEqual(languages[0].filenamePatterns, ['/trellis.fix/**/*.py']);
  const grammar = JSON.parse(readFileSync(join(extension, grammars[0].path), 'utf8'));
  assert.deepEqual(grammar.patterns, [{ include: 'source.python' }]);
});
