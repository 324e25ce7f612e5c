// Content of package.json.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const extension = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension');
const read = (...path: string[]) => readFileSync(join(extension, ...path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const words: Record<string, string> = JSON.parse(read('package.nls.json'));
/** Titles in the palette without the category, by command. */
const titles = new Map<string, string>(
  manifest.contributes.commands.map((it: { command: string; title: string }) => [
    it.command,
    words[it.title.slice(1, -1)] ?? '',
  ]),
);

test('the extension is not activated by a search of the workspace', () => {
  const events: string[] = manifest.activationEvents;
  const searches = events.filter((it) => it.startsWith('workspaceContains:') && it.includes('**'));
  assert.deepEqual(searches, []);
});

test('no default of ours changes other files', () => {
  const { configurationDefaults, languages, grammars } = manifest.contributes;
  const own: string[] = languages.map((it: { id: string }) => `[${it.id}]`);
  assert.deepEqual(Object.keys(configurationDefaults), own);
  // Only URIs of ours have this language, with the colours of Python.
  assert.deepEqual(languages[0].filenamePatterns, ['/trellis.fix/**/*.py']);
  const grammar = JSON.parse(read(grammars[0].path));
  assert.deepEqual(grammar.patterns, [{ include: 'source.python' }]);
});

test('every text of the manifest exists, and none is unused', () => {
  const used = [...read('package.json').matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key);
  assert.deepEqual([...new Set(used)].sort(), Object.keys(words).sort());
});

test('welcome texts and the walkthrough link to existing commands and pictures', () => {
  const links = Object.values(words).flatMap((it) => [...it.matchAll(/\(command:(trellis\.\w+)\)/g)]);
  const linked = links.map(([, command]) => command ?? '');
  assert.ok(linked.length > 0);
  assert.deepEqual(
    linked.filter((it) => !titles.has(it)),
    [],
  );
  const [{ steps }] = manifest.contributes.walkthroughs;
  const shown: string[] = steps.flatMap((it: { media: { image: object } }) => Object.values(it.media.image));
  assert.equal(new Set(shown).size, 4 * steps.length, 'each step has a picture for each kind of theme');
  assert.deepEqual(
    shown.filter((it) => !existsSync(join(extension, it))),
    [],
  );
});

test('the README and the walkthrough show all pictures, and no others', () => {
  const folder = 'media/pictures';
  const shown = `${read('README.md')}${read('package.json')}`.matchAll(/media\/pictures\/([\w-]+\.png)/g);
  const names = new Set([...shown].map(([, name]) => name));
  assert.deepEqual([...names].sort(), readdirSync(join(extension, folder)).sort());
});

test('texts name commands by their titles', () => {
  const all: string[] = readdirSync(join(extension, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = all.filter((it) => it.endsWith('.ts')).map((it) => read('src', it));
  const texts = [...sources, ...Object.values(words), read('README.md')];
  const named = texts.flatMap((it) => [...it.matchAll(/(?:\*\*?|")Trellis: ([A-Z][^*"]+)(?:\*\*?|")/g)]);
  const known = new Set(titles.values());
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.map(([, title]) => title ?? '').filter((it) => !known.has(it)),
    [],
  );
});

test('the palette has commands where they have something to do', () => {
  const palette: { command: string; when: string }[] = manifest.contributes.menus.commandPalette;
  const when = (command: string) => palette.find((it) => it.command === command)?.when;
  // A run is selected above all where none is shown.
  assert.equal(when('trellis.selectRun'), 'workspaceFolderCount > 0');
  assert.match(when('trellis.review') ?? '', /trellis\.hasTestPreviews/);
});

test('no key discards generated tests, which nothing restores', () => {
  const keys: { command: string }[] = manifest.contributes.keybindings;
  assert.deepEqual(
    keys.filter((it) => it.command === 'trellis.discardTests'),
    [],
  );
});
