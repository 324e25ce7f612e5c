// Generated tests are previewed, and written when the person accepts them.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Generated } from '../../src/protocol';
import { registerGenerateTests } from '../../src/testing/generate_tests';
import { TestPreviews } from '../../src/testing/test_previews';
import { asClient, openTestingView } from './fake_sidecar';
import { editor, run, tabs, type Uri, window } from './vscode';

const draft = { baseHash: 'b', items: { test_f: 'h' }, support: {}, outcome: 'passed' };

function generated(root: string, given: Partial<Generated> = {}): Generated {
  return {
    function: 'a.py::f',
    root,
    path: 'test_a.py',
    source: 'new\n',
    diff: '',
    testNames: ['test_f'],
    framework: 'pytest',
    model: 'm:x',
    warnings: [],
    outcome: 'passed',
    tests: [{ id: 'test_a.py::test_f', outcome: 'passed', durationMs: 1, line: 3 }],
    errors: [],
    written: false,
    draft,
    ...given,
  };
}

/** Opens a project with a test file, whose sidecar answers with these tests. */
function opened(given: Partial<Generated> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'previews-'));
  writeFileSync(join(root, 'test_a.py'), 'old\n');
  const stored = new Map<string, unknown>();
  const memento = {
    get: (key: string, otherwise: unknown) => stored.get(key) ?? otherwise,
    update: async (key: string, value: unknown) => void stored.set(key, value),
  };
  const fixture = openTestingView(root);
  fixture.sidecar.answers['trellis/generateTests'] = () => generated(root, given);
  fixture.sidecar.answers['trellis/keepTests'] = () => ({ warnings: [], leftOutBy: null });
  registerGenerateTests(asClient(fixture.sidecar), fixture.testing, memento as never);
  [editor.ran, editor.said, window.shown].map((it) => it.splice(0));
  const previews = new TestPreviews(memento as never);
  const propose = async () => {
    await run('trellis.generateTests', { projectRoot: root, function: { filePath: 'a.py', name: 'f' } });
    const [, base, proposed, title] = editor.ran.findLast(([name]) => name === 'vscode.diff') ?? [];
    return { base: base as Uri, proposed: proposed as Uri, title };
  };
  return { ...fixture, root, previews, propose };
}

test('generated tests are shown beside the text before, and nothing is written', async () => {
  const { sidecar, previews, propose } = opened();
  const { base, proposed, title } = await propose();
  assert.equal(sidecar.params('trellis/generateTests')[0]?.preview, true);
  assert.equal(title, 'test_a.py (1 of 1 generated tests pass)');
  assert.equal(proposed.path, '/test_a.py');
  // A window that was loaded again has only what was saved.
  const texts = [base, proposed].map((it) => previews.provideTextDocumentContent(it as never));
  assert.deepEqual(texts, ['old\n', 'new\n']);
  assert.deepEqual(sidecar.params('trellis/keepTests'), []);
  assert.deepEqual(editor.said, []);
});

test('accepted tests are written, opened, and shown with their outcomes', async () => {
  const { sidecar, previews, propose, root, view } = opened();
  const { proposed } = await propose();
  tabs.open(proposed);
  await run('trellis.acceptTests', proposed);
  const { path, source, testNames } = generated(root);
  const wanted = { root, function: 'a.py::f', path, source, testNames, draft };
  assert.deepEqual(sidecar.params('trellis/keepTests'), [wanted]);
  assert.deepEqual(
    window.shown.map((it) => it.fsPath),
    [join(root, 'test_a.py')],
  );
  const outcomes = view.runs.flatMap((it) => it.told.filter((told) => told.startsWith('passed')));
  assert.deepEqual(outcomes, ['passed test_a.py::test_f']);
  assert.deepEqual(previews.all, []);
  assert.equal(tabs.inputs.length, 0);
});

test('tests that plain pytest leaves out are added to its paths on request', async () => {
  const { sidecar, propose, root } = opened();
  sidecar.answers['trellis/keepTests'] = () => ({ warnings: [], leftOutBy: 'pytest.ini' });
  sidecar.answers['trellis/addTestPath'] = () => ({ file: 'pytest.ini', folder: 'generated' });
  const { proposed } = await propose();
  editor.answer = 'Add to testpaths';
  await run('trellis.acceptTests', proposed);
  editor.answer = undefined;
  assert.deepEqual(sidecar.params('trellis/addTestPath'), [{ root, path: 'test_a.py' }]);
  assert.match(editor.said[0] ?? '', /testpaths in pytest.ini leaves these tests out/);
});

test('tests that are refused stay in their preview, others are discarded', async () => {
  const { sidecar, previews, propose } = opened();
  sidecar.answers['trellis/keepTests'] = () => {
    throw new Error('test_a.py has changed since the tests were generated');
  };
  const { proposed } = await propose();
  await run('trellis.acceptTests', proposed);
  assert.match(editor.said[0] ?? '', /has changed/);
  assert.equal(previews.all.length, 1);
  await run('trellis.discardTests', proposed);
  assert.deepEqual(previews.all, []);
  assert.equal(sidecar.params('trellis/keepTests').length, 1);
});

test('new tests of the same function replace those that wait', async () => {
  const { previews, propose } = opened();
  await propose();
  await propose();
  assert.equal(previews.all.length, 1);
});

test('tests that cannot be collected are not offered', async () => {
  const { previews, propose } = opened({ draft: null, tests: [], outcome: 'collectionError' });
  const { proposed } = await propose();
  assert.equal(proposed, undefined);
  assert.deepEqual(editor.said, ['Tests for a.py::f: collectionError']);
  assert.deepEqual(previews.all, []);
});
