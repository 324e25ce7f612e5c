// Generated tests: shown first, and written once the person accepts them.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Generated } from '../../src/protocol';
import { registerGeneratedTests } from '../../src/testing/generate_tests';
import { TestPreviews } from '../../src/testing/test_previews';
import { asClient, memento, openTestingView, settled } from './fake_sidecar';
import { editor, run } from './vscode';

const made: Generated = {
  function: 'shop/cart.py::Cart.total',
  root: '/p',
  path: 'tests/test_cart.py',
  source: 'def test_total(): ...\n',
  diff: '',
  testNames: ['test_total'],
  framework: 'pytest',
  model: 'openai:m',
  warnings: ['no linter ran'],
  outcome: 'passed',
  reason: null,
  tests: [{ id: 'tests/test_cart.py::test_total', outcome: 'passed', durationMs: 1, line: 1 } as never],
  errors: [],
  written: false,
  leftOutBy: null,
  draft: { baseHash: '0', items: { test_total: '1' }, support: {}, outcome: 'passed' },
};

beforeEach(() => {
  [editor.settings, editor.said, editor.ran, editor.answer] = [{}, [], [], undefined];
});

/** Generates tests with an answer of the sidecar. */
async function generated(answer: Partial<Generated>) {
  const fixture = openTestingView('/p');
  const { sidecar, testing } = fixture;
  const state = memento();
  const previews = new TestPreviews(state);
  registerGeneratedTests(asClient(sidecar), testing, previews);
  sidecar.answers['trellis/generateTests'] = () => ({ ...made, ...answer });
  sidecar.answers['trellis/keepTests'] = () => ({ warnings: [], leftOutBy: null });
  await run('trellis.generateTests', {
    root: '/p',
    function: { filePath: 'shop/cart.py', name: 'Cart.total' },
  });
  await settled();
  return { ...fixture, state, previews };
}

test('tests are shown, wait in the list, and are written as shown once they are accepted', async () => {
  const { sidecar, state, previews, view } = await generated({});
  assert.equal(sidecar.params('trellis/generateTests')[0]?.preview, true);
  assert.equal(editor.ran.find(([it]) => it === 'vscode.diff')?.[3], 'test_cart.py (tests for Cart.total)');
  assert.deepEqual(editor.said, [
    'Tests for Cart.total: 1 of 1 pass. Nothing is written yet. No linter ran.',
  ]);
  assert.equal(view.runs.length, 0, 'tests that are not there have no results');
  // Another window of the same folder knows them.
  assert.deepEqual(new TestPreviews(state).all, previews.all);
  await run('trellis.acceptTests', { root: '/p', function: made.function });
  const { function: name, root, path, source, testNames, draft } = made;
  assert.deepEqual(sidecar.params('trellis/keepTests'), [
    { function: name, root, path, source, testNames, draft },
  ]);
  assert.equal(view.runs.length, 1);
  assert.deepEqual(previews.all, []);
});

test('tests that cannot be written stay in the list', async () => {
  const { sidecar, previews } = await generated({});
  sidecar.answers['trellis/keepTests'] = () => {
    throw new Error('tests/test_cart.py has changed');
  };
  await run('trellis.acceptTests', { root: '/p', function: made.function });
  assert.match(editor.said.at(-1) ?? '', /tests\/test_cart.py has changed/);
  assert.equal(previews.all.length, 1);
  await run('trellis.discardTests', { root: '/p', function: made.function });
  assert.deepEqual(previews.all, []);
});

test('new tests take the place of those that were not accepted', async () => {
  const { sidecar, previews } = await generated({});
  sidecar.answers['trellis/generateTests'] = () => ({ ...made, source: '# newer\n' });
  await run('trellis.generateTests', { root: '/p' });
  assert.deepEqual(
    previews.all.map((it) => it.source),
    ['# newer\n'],
  );
});

test('tests are written at once if the person wants it, and unusable ones do not wait', async () => {
  editor.settings = { previewTests: false };
  const { sidecar, previews, view } = await generated({ written: true, draft: undefined as never });
  assert.equal(sidecar.params('trellis/generateTests')[0]?.preview, false);
  assert.deepEqual([previews.all.length, view.runs.length], [0, 1]);
  editor.settings = {};
  const broken = { tests: [], outcome: 'collectionError', reason: 'no module', draft: undefined as never };
  const unusable = await generated(broken);
  assert.equal(unusable.previews.all.length, 0);
  assert.match(editor.said.at(-1) ?? '', /^Tests for Cart.total: no module. No linter ran.$/);
});
