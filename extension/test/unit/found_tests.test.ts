// Tests found in the sources, in the Testing view, and what runs add to them.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { CancellationTokenSource, TestRunRequest } from 'vscode';
import type { FoundTest, FoundTests } from '../../src/protocol';
import { openTestingView, resultOf, settled, type TestingFixture } from './fake_sidecar';
import type { Run } from './vscode';

const at = (name: string, line = 1): FoundTest => ({ name, line, endLine: line + 1 });

/** Makes the answer of `trellis/findTests`. */
function found(root: string, tests: Record<string, FoundTest[]>): FoundTests {
  return {
    root,
    framework: 'pytest',
    files: Object.entries(tests).map(([path, tests]) => ({ path, tests })),
    invalid: [],
  };
}

/** Opens a project whose sources have these tests. */
async function opened(tests: Record<string, FoundTest[]>): Promise<Opened> {
  const root = mkdtempSync(join(tmpdir(), 'found-'));
  const fixture = openTestingView(root);
  const find = async (tests: Record<string, FoundTest[]>) => {
    fixture.sidecar.answers['trellis/findTests'] = () => found(root, tests);
    fixture.sidecar.states.fire('running');
    await settled();
    // The run compares with the disk.
    for (const path of Object.keys(tests))
      if (extname(path) !== '' && !path.includes('/')) writeFileSync(join(root, path), '');
  };
  await find(tests);
  const ids = () => fixture.view.ids.slice(1);
  return { ...fixture, root, find, ids };
}

interface Opened extends TestingFixture {
  readonly root: string;
  readonly find: (tests: Record<string, FoundTest[]>) => Promise<void>;
  readonly ids: () => string[];
}

test('a folder that is closed during a search is not shown again', async () => {
  const { sidecar, view, root } = await opened({ 'a.py': [at('t')] });
  let answer = () => {};
  sidecar.answers['trellis/listRuns'] = () =>
    new Promise((resolve) => {
      answer = () => resolve({ runs: [] });
    });
  sidecar.states.fire('running');
  sidecar.states.fire('running');
  await settled();
  view.items.delete(root);
  answer();
  await settled();
  assert.deepEqual(view.ids, []);
});

/** Runs the whole project, with these ended tests. */
async function run({ testing, view, sidecar, root }: Opened, ...tests: object[]): Promise<Run> {
  sidecar.answers['trellis/runTests'] = () =>
    resultOf(root, { tests: tests.map((it) => ({ ...ENDED, ...it })) });
  await testing.profile.runHandler(new TestRunRequest(), new CancellationTokenSource().token);
  const made = view.runs.at(-1);
  assert.ok(made);
  return made;
}

const ENDED = {
  id: '',
  outcome: 'passed',
  durationMs: 20,
  path: 'a.py',
  stdout: '',
  stderr: '',
  log: '',
  subtests: [],
};

test('folders, files, classes and tests are rows as soon as the project is open', async () => {
  const { ids, view, root, testing } = await opened({
    'tests/unit/test_a.py': [{ ...at('TestA'), isGroup: true }, at('TestA::test_b', 3)],
    'test_c.py': [at('test_d'), { ...at('TestE::test_f', 9), path: 'base.py' }],
  });
  assert.deepEqual(ids(), [
    'tests',
    'tests/unit',
    'tests/unit/test_a.py',
    'tests/unit/test_a.py::TestA',
    'tests/unit/test_a.py::TestA::test_b',
    'test_c.py',
    'test_c.py::test_d',
    'test_c.py::TestE',
    'test_c.py::TestE::test_f',
  ]);
  const folders = view.items.get(root)?.children;
  assert.deepEqual(
    [...(folders ?? [])].map(([, it]) => it.sortText),
    ['0tests', '1test_c.py'],
  );
  const inherited = testing.tree.find(root, 'test_c.py::TestE::test_f');
  assert.deepEqual([inherited?.uri?.fsPath, inherited?.range?.start.line], [join(root, 'base.py'), 8]);
});

test('tests come and go with the text of their file, and empty folders go with them', async () => {
  const { ids, find } = await opened({
    'tests/test_a.py': [at('test_old'), at('test_kept')],
    'b.py': [at('t')],
  });
  await find({ 'tests/test_a.py': [at('test_new'), at('test_kept')], 'b.py': [at('t')] });
  assert.deepEqual(ids(), [
    'tests',
    'tests/test_a.py',
    'tests/test_a.py::test_kept',
    'tests/test_a.py::test_new',
    'b.py',
    'b.py::t',
  ]);
  await find({ 'b.py': [at('t')] });
  assert.deepEqual(ids(), ['b.py', 'b.py::t']);
});

test('a file that is invalid for a moment keeps its rows', async () => {
  const { ids, find, sidecar, root } = await opened({ 'a.py': [at('t')], 'b.py': [at('t')] });
  sidecar.answers['trellis/findTests'] = () => ({
    root,
    framework: 'pytest',
    files: [],
    invalid: ['a.py'],
  });
  sidecar.states.fire('running');
  await settled();
  assert.deepEqual(ids(), ['a.py', 'a.py::t']);
  await find({});
  assert.deepEqual(ids(), []);
});

test('a file of which only a run knows the tests is a row, and keeps what runs add', async () => {
  const project = await opened({ 'b.spec.jsx': [] });
  assert.deepEqual(project.ids(), ['b.spec.jsx']);
  await run(project, { id: 'b.spec.jsx::is 1' });
  await project.find({ 'b.spec.jsx': [] });
  assert.deepEqual(project.ids(), ['b.spec.jsx', 'b.spec.jsx::is 1']);
  await project.find({ 'c.test.js': [] });
  await project.find({});
  assert.deepEqual(project.ids(), ['b.spec.jsx', 'b.spec.jsx::is 1']);
});

test('tests of Go come and go with the files of their package, and have subtests below them', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const of = (path: string, name: string) => ({ ...at(name), path });
  const a = [of('cart/a_test.go', 'TestA'), of('cart/a_test.go', 'TestA/of_[two]')];
  const { ids, root, sidecar, testing } = await opened({ cart: a, '.': [of('x_test.go', 'TestX')] });
  assert.deepEqual(ids(), ['cart', 'cart::TestA', 'cart::TestA/of_[two]', '.', '.::TestX']);
  const item = testing.tree.find(root, 'cart::TestA');
  assert.equal(item?.uri?.fsPath, join(root, 'cart/a_test.go'));
  // The text of an editor has no tests for a moment.
  sidecar.answers['trellis/findTests'] = () => ({ ...found(root, {}), framework: 'go' });
  const { editor, Uri } = await import('./vscode');
  editor.edited.fire({ document: { uri: Uri.file(join(root, 'cart', 'a_test.go')) } as never });
  context.mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(sidecar.params('trellis/findTests').at(-1), { root, paths: ['cart/a_test.go'] });
  assert.deepEqual(ids(), ['.', '.::TestX']);
});

test('a refresh runs nothing of frameworks that cannot list their tests', async () => {
  const { ids, root, sidecar, view } = await opened({});
  const refreshed = async (framework: FoundTests['framework']) => {
    sidecar.answers['trellis/findTests'] = () => ({ ...found(root, { 'a.test.js': [at('t')] }), framework });
    await view.refreshHandler?.(undefined);
    return sidecar.params('trellis/runTests').length;
  };
  assert.equal(await refreshed('vitest'), 0);
  assert.deepEqual(ids(), ['a.test.js', 'a.test.js::t']);
  assert.equal(await refreshed('pytest'), 1);
});

test('a test whose cases are not known does not wait, as its cases run in its place', async () => {
  const project = await opened({ 'a.py': [{ ...at('t'), hasCases: true }, at('u')] });
  const { testing, sidecar, root, view } = project;
  sidecar.answers['trellis/runTests'] = () => resultOf(root, { tests: [{ ...ENDED, id: 'a.py::t[1]' }] });
  const include = [testing.tree.item(root, 'a.py')];
  const waiting = async () => {
    await testing.profile.runHandler(new TestRunRequest(include), new CancellationTokenSource().token);
    return view.runs.at(-1)?.told.filter((it) => it.startsWith('enqueued'));
  };
  assert.deepEqual(await waiting(), ['enqueued a.py::u']);
  assert.deepEqual(await waiting(), ['enqueued a.py::t[1]', 'enqueued a.py::u']);
});

test('a run adds the tests that the text does not show, and removes those that do not exist', async () => {
  const project = await opened({ 'a.py': [at('t'), at('made_up')], 'b.py': [at('never_collected')] });
  await run(project, { id: 'a.py::t[1]' }, { id: 'a.py::by_plugin' });
  const known = ['a.py', 'a.py::t', 'a.py::t[1]', 'a.py::by_plugin'];
  assert.deepEqual(project.ids(), known);
  // The same text says nothing new.
  await project.find({ 'a.py': [at('t', 5), at('made_up')], 'b.py': [at('never_collected')] });
  assert.deepEqual(project.ids(), known);
  assert.equal(project.testing.tree.find(project.root, 'a.py::t')?.range?.start.line, 4);
  await project.find({ 'a.py': [at('t'), at('made_up'), at('more')], 'b.py': [at('never_collected')] });
  assert.deepEqual(project.ids(), [...known, 'a.py::more']);
});

test('an edit searches the edited file only, a change on the disk all files', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { sidecar, root } = await opened({ 'a.py': [at('t')] });
  const { editor, Uri } = await import('./vscode');
  const document = { languageId: 'python', uri: Uri.file(join(root, 'a.py')) };
  const asked = () => sidecar.params('trellis/findTests').at(-1);
  const before = sidecar.params('trellis/findTests').length;
  for (const it of [document, document, { ...document, uri: Uri.file(join(root, '.venv', 'b.py')) }])
    editor.edited.fire({ document: it as never });
  context.mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(asked(), { root, paths: ['a.py'] });
  editor.saved.fire(document as never);
  context.mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(asked(), { root });
  assert.equal(sidecar.params('trellis/findTests').length, before + 2);
});

test('a failed search is shown at its project, until one succeeds', async () => {
  const { sidecar, view, root, find } = await opened({ 'a.py': [at('t')] });
  sidecar.answers['trellis/findTests'] = () => {
    throw new Error('no such folder');
  };
  sidecar.states.fire('running');
  await settled();
  assert.match(view.items.get(root)?.error ?? '', /^Could not find the tests: .*no such folder/);
  await find({ 'a.py': [at('t')] });
  assert.equal(view.items.get(root)?.error, undefined);
});

test('skips and expected failures show their reasons beside the test', async () => {
  const project = await opened({ 'a.py': [at('s'), at('x'), at('p'), at('q')] });
  const note = (name: string) => project.testing.tree.find(project.root, `a.py::${name}`)?.description ?? '';
  await run(
    project,
    { id: 'a.py::s', outcome: 'skipped', reason: 'no network' },
    { id: 'a.py::x', outcome: 'xFailed', reason: 'issue 7' },
    { id: 'a.py::p', outcome: 'xPassed' },
    { id: 'a.py::q' },
  );
  assert.deepEqual(['s', 'x', 'p', 'q'].map(note), [
    'skipped: no network',
    'xfailed: issue 7',
    'xpassed',
    '',
  ]);
  await run(project, { id: 'a.py::s' }, { id: 'a.py::x' }, { id: 'a.py::p' }, { id: 'a.py::q' });
  assert.deepEqual(['s', 'x', 'p', 'q'].map(note), ['', '', '', '']);
});

test('every test has its output, also if it passed and was shown while the run went on', async () => {
  const project = await opened({ 'a.py': [at('t'), at('u')] });
  const { sidecar, root } = project;
  const all = [
    { ...ENDED, id: 'a.py::t', stdout: 'printed\n', log: 'WARNING careful\n' },
    { ...ENDED, id: 'a.py::u', outcome: 'skipped', reason: 'later' },
  ];
  sidecar.answers['trellis/runTests'] = () => {
    sidecar.events.fire({ type: 'job', job: 'job-1', method: 'runTests', title: '', state: 'running' });
    for (const { id, outcome } of all)
      sidecar.events.fire({ type: 'test', job: 'job-1', root, id, outcome, durationMs: 20 });
    return resultOf(root, { tests: all, durationMs: 520 });
  };
  await project.testing.profile.runHandler(new TestRunRequest(), new CancellationTokenSource().token);
  const made = project.view.runs.at(-1);
  assert.equal(made?.told.filter((it) => it === 'passed a.py::t').length, 1);
  assert.equal(
    made?.outputs.get('a.py::t'),
    'a.py::t PASSED in 0.02 s\r\n----- Captured stdout -----\r\nprinted\r\n----- Captured log -----\r\nWARNING careful\r\n',
  );
  assert.equal(made?.outputs.get('a.py::u'), 'a.py::u SKIPPED (skipped: later) in 0.02 s\r\n');
  assert.match(made?.output ?? '', /1 passed, 1 skipped in 0\.52 s\r\n/);
});

test('parts of a test are rows below it, and run with it', async () => {
  const project = await opened({ 'a.py': [at('t')] });
  const failure = { exception: 'AssertionError', message: '1 != 2', traceback: '', path: 'a.py', line: 4 };
  const made = await run(project, {
    id: 'a.py::t',
    outcome: 'failed',
    failure,
    subtests: [
      { name: '(i=1)', outcome: 'passed', failure: null },
      { name: '(i=2)', outcome: 'failed', failure },
    ],
  });
  assert.deepEqual(
    made.told.filter((it) => it !== 'end').map((it) => it.split(' ')[0]),
    ['failed', 'passed', 'failed'],
  );
  const item = project.testing.tree.find(project.root, 'a.py::t');
  const parts = [...(item?.children ?? [])].map(([, it]) => it);
  assert.deepEqual(
    parts.map((it) => it.label),
    ['(i=1)', '(i=2)'],
  );
  const { runHandler } = project.testing.profile;
  await runHandler(new TestRunRequest(parts), new CancellationTokenSource().token);
  assert.deepEqual(project.sidecar.params('trellis/runTests').at(-1)?.paths, ['a.py::t']);
  await run(project, { id: 'a.py::t' });
  assert.equal(item?.children.size, 0);
});
