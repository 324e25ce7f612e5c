// What package.json promises.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const extension = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension');
const read = (...path: string[]) => readFileSync(join(extension, ...path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const words: Record<string, string> = JSON.parse(read('package.nls.json'));
/** By command, its title in the palette without the category. */
const titles = new Map<string, string>(
  manifest.contributes.commands.map((it: { command: string; title: string }) => [
    it.command,
    words[it.title.slice(1, -1)] ?? '',
  ]),
);

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
  const grammar = JSON.parse(read(grammars[0].path));
  assert.deepEqual(grammar.patterns, [{ include: 'source.python' }]);
});

test('every text of the manifest is there, and none is left over', () => {
  const used = [...read('package.json').matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key);
  assert.deepEqual([...new Set(used)].sort(), Object.keys(words).sort());
});

test('welcome texts and the walkthrough lead to commands and pages that are there', () => {
  const links = Object.values(words).flatMap((it) => [...it.matchAll(/\(command:(trellis\.\w+)\)/g)]);
  const linked = links.map(([, command]) => command ?? '');
  assert.ok(linked.length > 0);
  assert.deepEqual(
    linked.filter((it) => !titles.has(it)),
    [],
  );
  const [{ steps }] = manifest.contributes.walkthroughs;
  const pages: string[] = steps.map((it: { media: { markdown: string } }) => it.media.markdown);
  assert.deepEqual(
    pages.filter((it) => !existsSync(join(extension, it))),
    [],
  );
});

test('a command that a text names has that title', () => {
  const all: string[] = readdirSync(join(extension, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = all.filter((it) => it.endsWith('.ts')).map((it) => read('src', it));
  const pages = readdirSync(join(extension, 'walkthrough')).map((it) => read('walkthrough', it));
  const texts = [...sources, ...pages, ...Object.values(words), read('README.md')];
  const named = texts.flatMap((it) => [...it.matchAll(/(?:\*\*?|")Trellis: ([A-Z][^*"]+)(?:\*\*?|")/g)]);
  const known = new Set(titles.values());
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.map(([, title]) => title ?? '').filter((it) => !known.has(it)),
    [],
  );
});
