// Files that the explorer offers to generate from, and to implement.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PlanFiles } from '../../src/generation/plan_files';
import { certainKindOf, kindOf, mayBe, type PlanKind } from '../../src/generation/plan_kind';
import { editor, files, Uri } from './vscode';

const repository = process.env.TRELLIS_REPOSITORY ?? '';
const graph = '{"nodes": [{"id": "a"}], "edges": []}';
const list = '{"tasks": [{"id": "a", "description": "b"}]}';
const ofEditor = '{"tasks": [{"label": "build", "type": "shell"}]}';

test('a graph and a task list are recognized by their content', () => {
  const table: [string, PlanKind][] = [
    [graph, 'graph'],
    ['{"nodes": [], "repo_name": "shop"}', 'graph'],
    ['{"root": {"children": []}, "edges": []}', 'graph'],
    ['{"hierarchy": {}, "entities": {}, "edges": []}', 'graph'],
    [readFileSync(join(repository, 'fixtures/ml-library/rpg.json'), 'utf8'), 'graph'],
    [list, 'tasks'],
    [ofEditor, 'other'],
    ['{"root": true}', 'other'],
    ['{"nodes": ["a"]}', 'other'],
    ['{"name": "package"}', 'other'],
    ['[]', 'other'],
    ['{"nodes": [', 'broken'],
  ];
  for (const [text, wanted] of table) assert.equal(kindOf(text), wanted, text.slice(0, 60));
});

test('what is shown unasked is shown for plans only', () => {
  const table: [string, string][] = [
    ['{"nodes": [{"id": "a", "node_type": "leaf"}], "edges": []}', 'graph'],
    ['{"nodes": [], "repo_name": "shop"}', 'graph'],
    [list, 'tasks'],
    ['{"nodes": [{"id": 1, "group": 2}], "links": []}', 'other'],
    ['{"nodes": [{"id": "a", "type": "webhook", "position": [0, 0]}], "connections": {}}', 'other'],
    ['{"nodes": []}', 'other'],
    ['{"tasks": []}', 'other'],
    ['{"tasks": [{"id": "a", "title": "b"}]}', 'other'],
    ['{"nodes": [', 'broken'],
  ];
  for (const [text, wanted] of table) assert.equal(certainKindOf(text), wanted, text);
});

test('a broken file is offered if its name fits', () => {
  assert.ok(mayBe('graph', '/p/rpg.json', '{'));
  assert.ok(mayBe('tasks', '/p/my-tasks.json', '{'));
  assert.ok(mayBe('graph', '/p/plan.json', graph));
  assert.ok(!mayBe('graph', '/p/plan.json', '{'));
  assert.ok(!mayBe('tasks', '/p/tasks.json', ofEditor));
});

/** Writes files of an open folder. */
function written(texts: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'plans-'));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  editor.folders = [{ name: 'p', uri: Uri.file(root) }];
  return root;
}

test('menus know the plans among existing, opened and saved files', async () => {
  const texts = { 'rpg.json': graph, 'task.json': list, '.vscode/tasks.json': list, 'graph.json': '{}' };
  const root = written(texts);
  files.found = Object.keys(texts).map((it) => Uri.file(join(root, it)));
  editor.ran.splice(0);
  const plans = new PlanFiles();
  await plans.ready;
  const document = (path: string, text: string) => ({ uri: Uri.file(join(root, path)), getText: () => text });
  editor.opened.fire(document('shop.json', graph));
  editor.opened.fire(document('.vscode/tasks.json', list));
  editor.opened.fire(document('shop.py', graph));
  editor.saved.fire(document('rpg.json', '{}'));
  plans.dispose();
  files.found = [];
  const told = Object.fromEntries(editor.ran.map(([, key, value]) => [key, value]));
  assert.deepEqual(told, {
    'trellis.graphFiles': [join(root, 'shop.json')],
    'trellis.taskFiles': [join(root, 'task.json')],
  });
});

test('the explorer offers to implement a spec', () => {
  const { contributes } = JSON.parse(readFileSync(join(repository, 'extension/package.json'), 'utf8'));
  const entries: { command: string; when: string }[] = contributes.menus['explorer/context'];
  const when = entries.find((it) => it.command === 'trellis.implement')?.when ?? '';
  const [, pattern = '', flags] = /resourcePath =~ \/(.*)\/(i) &&/.exec(when) ?? [];
  const offered = new RegExp(pattern, flags);
  const table: [string, boolean][] = [
    ['/p/docs/shop.md', true],
    ['/p/Specs/shop.md', true],
    ['/p/issues/12.md', true],
    ['/p/shop/login-spec.md', true],
    ['/p/LLD-12.md', true],
    ['C:\\p\\docs\\shop.md', true],
    ['/home/me/.work/p/docs/shop.md', true],
    ['/p/README.md', false],
    ['/p/docs/guides/shop.md', false],
    ['/p/docs/shop.txt', false],
    ['/p/.trellis/issues/12/spec.md', false],
    ['/p/.pytest_cache/spec.md', false],
  ];
  for (const [path, wanted] of table) assert.equal(offered.test(path), wanted, path);
});
