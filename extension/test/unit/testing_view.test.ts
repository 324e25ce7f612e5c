// The Testing view: its requests, and what it shows.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { CancellationTokenSource, TestRunRequest } from 'vscode';
import type { FoundTest, FoundTests } from '../../src/protocol';
import { isInternal } from '../../src/run/folders';
import { JobStore } from '../../src/run/job_store';
import { type LensSettings, shownLenses, showsAction } from '../../src/sidecar/lens_filter';
import { registerDebugProfile } from '../../src/testing/debugging';
import { showExternalRuns } from '../../src/testing/external_runs';
import { registerGeneratedTests } from '../../src/testing/generate_tests';
import { registerLensCommands } from '../../src/testing/lens_commands';
import { repair } from '../../src/testing/repair';
import { TestPreviews } from '../../src/testing/test_previews';
import {
  asClient,
  type FakeSidecar,
  fixRequests,
  memento,
  openTestingView,
  resultOf,
  settled,
  type TestingFixture,
} from './fake_sidecar';
import { Disposable, editor, Location, Position, Range, type Run, run, Uri, workspace } from './vscode';

/** Makes the answer of `trellis/findTests`. */
function found(root: string, tests: Record<string, FoundTest[]>): FoundTests {
  return {
    root,
    framework: 'pytest',
    files: Object.entries(tests).map(([path, tests]) => ({ path, tests })),
    invalid: [],
  };
}

beforeEach(() => {
  workspace.isTrusted = true;
});

test('tests that the Python extension lists are not listed twice, unless the person wants it', async () => {
  editor.settings = { pytestEnabled: true };
  const { sidecar, testing, view } = openTestingView('/p');
  const changed = async (settings: Record<string, unknown>) => {
    editor.settings = settings;
    editor.configured.fire({ affectsConfiguration: (it) => it === 'python.testing' });
    await settled();
    return view.items.size;
  };
  sidecar.states.fire('running');
  await settled();
  assert.equal(view.items.size, 0);
  assert.equal(sidecar.params('trellis/findTests').length, 0, 'nothing is searched');
  assert.equal(testing.tree.isListed('/p/grown'), false, 'results of other windows are not shown');
  assert.equal(await changed({ pytestEnabled: true, 'testing.enabled': 'on' }), 1);
  assert.equal(await changed({ unittestEnabled: true }), 0);
  assert.equal(await changed({}), 1);
  assert.equal(await changed({ 'testing.enabled': 'off' }), 0);
  editor.settings = {};
});

test('a folder without trust shows its tests, and why they do not run', async () => {
  workspace.isTrusted = false;
  const { sidecar, view } = openTestingView('/p');
  sidecar.answers['trellis/findTests'] = () => found('/p', { 'a.py': [{ name: 't', line: 1, endLine: 2 }] });
  sidecar.states.fire('running');
  await settled();
  const root = view.items.get('/p');
  assert.deepEqual(view.ids, ['/p', 'a.py', 'a.py::t']);
  assert.equal(root?.error, 'Trust this folder to run its tests');
  sidecar.answers['trellis/findTests'] = () => found('/p', {});
  await view.resolveHandler?.(root);
  workspace.isTrusted = true;
  editor.trusted.fire(undefined);
  assert.equal(root?.error, undefined);
  assert.equal(sidecar.params('trellis/runTests').length, 0, 'nothing is executed');
});

test('lenses are shown as the settings want, and without trust only those that execute nothing', () => {
  const lens = (line: number, command: string, argument: unknown) =>
    ({
      range: new Range(line, 0, line, 3),
      command: { command: `trellis.${command}`, arguments: [argument] },
    }) as never;
  const test = { root: '/p', paths: ['test_a.py::t'] };
  const lenses = [
    lens(0, 'generateTests', {}),
    lens(3, 'runTests', { root: '/p', paths: ['other.py::t'] }),
    lens(3, 'showResult', {}),
    lens(6, 'runTests', test),
    lens(6, 'proposeFix', {}),
  ];
  const all = { isTrusted: true, generateTests: true, results: true, tests: true };
  const shown = (settings: Partial<LensSettings>) =>
    shownLenses('/p/test_a.py', lenses, { ...all, ...settings }).map((it) => lenses.indexOf(it as never));
  assert.deepEqual(shown({}), [0, 1, 2, 3, 4]);
  assert.deepEqual(shown({ generateTests: false }), [1, 2, 3, 4]);
  assert.deepEqual(shown({ results: false }), [0, 3, 4]);
  assert.deepEqual(shown({ tests: false }), [0, 1, 2]);
  assert.deepEqual(shown({ isTrusted: false }), [2]);
  const actions = ['trellis.repair', 'trellis.showResult', undefined];
  assert.deepEqual(
    actions.filter((it) => showsAction(it, all)),
    actions,
  );
  assert.deepEqual(
    actions.filter((it) => showsAction(it, { ...all, isTrusted: false })),
    actions.slice(1),
  );
});

test('a path below .trellis is internal, unless the person opened the folder', () => {
  const worktree = '/p/.trellis/worktrees/issue-1';
  const table: [string[], string, boolean][] = [
    [['/p'], '/p', false],
    [['/p'], `${worktree}/tests`, true],
    [['/p'], '/p/.trellis', true],
    [['/p'], '/p/trellis/tests', false],
    [[worktree], `${worktree}/tests`, false],
    [[worktree], `${worktree}/.trellis/grown`, true],
    [['/p', worktree], `${worktree}/tests`, false],
    [[], `${worktree}/tests`, true],
  ];
  for (const [opened, path, wanted] of table) assert.equal(isInternal(opened, path), wanted, path);
});

test('tests in a worktree of an issue are not in the view', async () => {
  const { sidecar, testing, view } = openTestingView('/p');
  const client = asClient(sidecar);
  const jobStore = new JobStore(client);
  const worktree = '/p/.trellis/worktrees/issue-1';
  const parts = [
    ...showExternalRuns(client, jobStore, testing),
    ...registerLensCommands(client, jobStore, testing),
  ];
  sidecar.events.fire({ type: 'job', job: 'job-1', method: 'implement', title: '', state: 'running' });
  for (const [root, id] of [
    [worktree, 'a.py::t'],
    ['/p', '.trellis/worktrees/issue-1/a.py::t'],
    ['/p', 'a.py::t'],
  ] as const)
    sidecar.events.fire({ type: 'test', job: 'job-1', root, id, outcome: 'passed', durationMs: 1 });
  const given = { root: worktree, paths: ['a.py::t'] };
  const lens = { command: 'trellis.runTests', title: '', arguments: [given] };
  const document = { uri: Uri.file(`${worktree}/a.py`) };
  sidecar.lenses.fire({
    document,
    lenses: [{ range: new Range(1, 0, 1, 0), command: lens, isResolved: true }],
  });
  sidecar.answers['trellis/runTests'] = () => resultOf(worktree);
  await run('trellis.runTests', given);
  assert.deepEqual(view.ids, ['/p', 'a.py', 'a.py::t']);
  assert.deepEqual(
    sidecar.params('trellis/runTests').map(({ root, paths }) => ({ root, paths })),
    [given],
  );
  assert.equal(view.runs.length, 1);
  Disposable.from(jobStore, ...parts).dispose();
});

/** Makes a project on the disk with three test files, which ran before. */
function ranBefore(): TestingFixture & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), 'view-'));
  const fixture = openTestingView(root);
  for (const file of ['kept.py', 'met.py', 'broken.py']) writeFileSync(join(root, file), '');
  for (const id of ['kept.py::red', 'met.py::old', 'met.py::t', 'broken.py::t', 'gone.py::t'])
    fixture.testing.tree.place({ root, id, mark: 'failed', word: 'failed', durationMs: 1 }, 0);
  return { ...fixture, root };
}

const ended = (id: string, outcome = 'passed') => ({
  id,
  outcome,
  durationMs: 1,
  path: id.split('::')[0] ?? '',
  stdout: '',
  stderr: '',
  log: '',
  subtests: [],
});

/** Runs items of the view as its button does; returns what the run was told. */
async function ran(
  { testing, view }: TestingFixture,
  ...ids: string[]
): Promise<{ told: string[]; made: Run }> {
  const root = view.items.get(editor.folders[0]?.uri.fsPath ?? '')?.id ?? '';
  const items = ids.map((id) => testing.tree.item(root, id));
  const include = ids.length === 0 ? undefined : items;
  await testing.profile.runHandler(new TestRunRequest(include), new CancellationTokenSource().token);
  const made = view.runs.at(-1);
  assert.ok(made);
  return { told: made.told, made };
}

test('a run of a whole project keeps the results of tests that did not run', async () => {
  const fixture = ranBefore();
  const { root, sidecar, view } = fixture;
  const broken = { exception: 'ImportError', message: 'no', path: 'shop.py', line: 3, traceback: '' };
  const collectionErrors = [{ ...broken, collecting: 'broken.py' }];
  sidecar.answers['trellis/runTests'] = () =>
    resultOf(root, { outcome: 'collectionError', tests: [ended('met.py::t')], collectionErrors });
  for (const named of [[], ['']]) {
    const { told, made } = await ran(fixture, ...named);
    assert.deepEqual(told, ['errored broken.py', 'passed met.py::t', 'end']);
    const { location } = made.messages.get('broken.py') ?? {};
    assert.deepEqual(location, new Location(Uri.file(join(root, 'shop.py')), new Position(2, 0)));
  }
  const left = ['kept.py', 'kept.py::red', 'met.py', 'met.py::t', 'broken.py', 'broken.py::t'];
  assert.deepEqual(view.ids, [root, ...left]);
});

test('requested tests are shown as waiting, and as errors if they are not found', async () => {
  const fixture = ranBefore();
  const { root, sidecar } = fixture;
  const message = `ERROR: not found: ${root}/kept.py::red`;
  const collectionErrors = [{ exception: 'UsageError', message, traceback: message }];
  sidecar.answers['trellis/runTests'] = () =>
    resultOf(root, { outcome: 'collectionError', collectionErrors });
  const { told, made } = await ran(fixture, 'kept.py::red', 'met.py');
  assert.deepEqual(told, [
    'enqueued kept.py::red',
    'enqueued met.py::old',
    'enqueued met.py::t',
    'errored kept.py::red',
    'end',
  ]);
  assert.match(made.messages.get('kept.py::red')?.message ?? '', /not found/);
});

test('a run with skipped tests only is no error', async () => {
  const fixture = ranBefore();
  const { root, sidecar } = fixture;
  sidecar.answers['trellis/runTests'] = () =>
    resultOf(root, { outcome: 'noTests', tests: [ended('met.py::t', 'skipped')] });
  assert.deepEqual((await ran(fixture)).told, ['skipped met.py::t', 'end']);
});

test('a file that cannot be collected shows its error, until it can', async () => {
  const { root, sidecar, view, testing } = ranBefore();
  const failure = { exception: 'SyntaxError', message: 'no', path: 'broken.py', line: 1, traceback: '' };
  const collect = async (given: object) => {
    sidecar.answers['trellis/runTests'] = () => resultOf(root, given);
    await view.refreshHandler?.(undefined);
    return testing.tree.item(root, 'broken.py').error;
  };
  assert.equal(await collect({ notRun: ['met.py::t'], collectionErrors: [failure] }), 'SyntaxError: no');
  assert.equal(await collect({ notRun: ['met.py::t', 'broken.py::t'] }), undefined);
  const usage = { exception: 'UsageError', message: 'unrecognized arguments: -q9', traceback: '' };
  await collect({ outcome: 'collectionError', collectionErrors: [usage] });
  assert.equal(view.items.get(root)?.error, 'UsageError: unrecognized arguments: -q9');
  await collect({ notRun: ['met.py::t'] });
  assert.equal(view.items.get(root)?.error, undefined);
});

/** Reports the begin of a job, and a line of its log. */
function installs(sidecar: FakeSidecar, method: string, job: string): void {
  sidecar.events.fire({ type: 'job', job, method, title: '', state: 'running' });
  const message = 'creating the test environment: pytest>=7\n';
  sidecar.events.fire({ type: 'log', level: 'info', job, message });
}

test('a run and a collection show the installation of packages', async () => {
  const fixture = ranBefore();
  const { root, sidecar, view } = fixture;
  const seen: (string | undefined)[] = [];
  sidecar.answers['trellis/runTests'] = () => {
    installs(sidecar, 'runTests', `job-${seen.length + 1}`);
    seen.push(view.items.get(root)?.description);
    return resultOf(root, { tests: [ended('met.py::t')] });
  };
  assert.match((await ran(fixture)).made.output, /^creating the test environment: pytest>=7\r\n/);
  await view.refreshHandler?.(undefined);
  assert.deepEqual(seen, [undefined, 'creating the test environment: pytest>=7']);
  assert.equal(view.items.get(root)?.description, '');
});

test('two test runs that start together show only their own tests, whichever job the sidecar begins first', async () => {
  const { root, sidecar, testing, view } = ranBefore();
  const waiting: { id: string; answer: (result: unknown) => void }[] = [];
  sidecar.answers['trellis/runTests'] = ({ paths }) =>
    new Promise((answer) => waiting.push({ id: String([paths].flat()[0]), answer }));
  const { token } = new CancellationTokenSource();
  const ids = ['kept.py::red', 'met.py::t'];
  const running = ids.map((id) =>
    testing.profile.runHandler(new TestRunRequest([testing.tree.item(root, id)]), token),
  );
  await settled();
  for (let last = 0; waiting.length > 0; await settled()) {
    // All open requests begin together, the last one first, and their events alternate.
    const jobs = waiting.splice(0).reverse();
    const begun = jobs.map(({ id, answer }, at) => ({ id, answer, job: `job-${last + at + 1}` }));
    last += jobs.length;
    for (const { job } of begun)
      sidecar.events.fire({ type: 'job', job, method: 'runTests', title: '', state: 'running' });
    for (const { job, id } of begun)
      sidecar.events.fire({ type: 'test', job, root, id, outcome: 'passed', durationMs: 1 });
    await settled();
    for (const { id, answer } of begun) answer(resultOf(root, { tests: [ended(id)] }));
  }
  await Promise.all(running);
  assert.deepEqual(
    view.runs.map((it) => it.told.filter((told) => told.startsWith('passed'))),
    [['passed kept.py::red'], ['passed met.py::t']],
  );
});

test('a job that takes longer than a moment shows its log in a notification, one of hours does not', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { sidecar, testing } = openTestingView('/p');
  const client = asClient(sidecar);
  const jobStore = new JobStore(client);
  const parts = [
    ...registerLensCommands(client, jobStore, testing),
    ...registerGeneratedTests(client, testing, new TestPreviews(memento())),
  ];
  const jobs = [
    ['generateTests', 'job-1', () => run('trellis.generateTests', { root: '/p' })],
    ['proposeFix', 'job-2', () => fixRequests(sidecar).propose({ root: '/', test: 'a.py::t' })],
    ['repair', 'job-3', () => run('trellis.repair', { root: '/p' })],
  ] as const;
  const shown = async (milliseconds: number) => {
    editor.progress.splice(0);
    for (const [method, name, start] of jobs) {
      const job = `${name} ${milliseconds}`;
      const asked = new Promise<(result: unknown) => void>((ready) => {
        sidecar.answers[`trellis/${method}`] = () => {
          installs(sidecar, method, job);
          return new Promise((answer) => ready(answer));
        };
      });
      const work = start();
      const answer = await asked;
      await settled();
      context.mock.timers.tick(milliseconds);
      answer({ job });
      await work;
    }
    return [...editor.progress];
  };
  const line = 'creating the test environment: pytest>=7';
  assert.deepEqual(await shown(100), []);
  assert.deepEqual(await shown(1_000), [`Generating tests: ${line}`, `Looking for a fix of t: ${line}`]);
  assert.equal(jobStore.jobs.get('job-3 1000')?.line, line);
  Disposable.from(jobStore, ...parts).dispose();
});

test('the debug profile says that nothing is sandboxed', () => {
  const { sidecar, testing, view } = openTestingView('/p');
  registerDebugProfile(asClient(sidecar), testing);
  const labels = view.profiles.map((it) => it.label);
  assert.deepEqual(labels, ['Coverage', 'Run', 'Debug (not sandboxed)']);
});

test('a repair saves the files of its folder only', async () => {
  const { sidecar } = openTestingView('/p', '/q');
  sidecar.answers['trellis/repair'] = () => ({ job: 'job-1' });
  const saved: string[] = [];
  const document = (path: string, isDirty: boolean, isSaved = true) => ({
    uri: Uri.file(path),
    isDirty,
    getText: () => '',
    save: async () => saved.push(path) > 0 && isSaved,
  });
  workspace.textDocuments = [
    document('/p/a.py', true),
    document('/p/b.py', false),
    document('/q/c.py', true),
  ];
  await repair(asClient(sidecar), '/p');
  assert.deepEqual(saved, ['/p/a.py']);
  assert.equal(sidecar.params('trellis/repair').length, 1);
  workspace.textDocuments = [document('/p/a.py', true, false)];
  await repair(asClient(sidecar), '/p');
  assert.equal(sidecar.params('trellis/repair').length, 1, 'what cannot be saved is not repaired');
  workspace.textDocuments = [];
});
