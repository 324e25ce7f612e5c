// Continuous runs: what runs after a change, and what a newer change supersedes.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { CancellationTokenSource, type TestItem, TestRunRequest } from 'vscode';
import type { AffectedTestsResult } from '../../src/protocol';
import { affectedWithin, introOf, waitingText } from '../../src/testing/affected';
import { ChangeQueue } from '../../src/testing/change_queue';
import { LEFT_OUT, mayBeRead } from '../../src/testing/outdated';
import { openTestingView, resultOf, settled } from './fake_sidecar';
import { editor, files, l10n, Uri } from './vscode';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Makes an answer of the sidecar. */
function affectedOf(root: string, given: Partial<AffectedTestsResult>): AffectedTestsResult {
  return { root, tests: [], changed: [], broken: [], held: [], ...given };
}

/** Switches a continuous run on, for the whole project unless ids are named. */
function switchOn(...ids: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'continuous-'));
  const fixture = openTestingView(root);
  const { sidecar, testing, view } = fixture;
  const answer: Partial<AffectedTestsResult> = {};
  sidecar.answers['trellis/affectedTests'] = () => affectedOf(root, answer);
  sidecar.answers['trellis/runTests'] = () => resultOf(root);
  const source = new CancellationTokenSource();
  const items: TestItem[] = ids.map((id) => testing.tree.item(root, id));
  const request = new TestRunRequest(ids.length > 0 ? items : undefined, undefined, undefined, true);
  const ended = view.profiles.find((it) => it.label === 'Run')?.runHandler(request as never, source.token);
  const save = (name: string, text = String(Math.random())) => {
    const path = join(root, name);
    writeFileSync(path, text);
    editor.saved.fire({ uri: Uri.file(path), getText: () => text });
    return path;
  };
  const pass = async () => {
    mock.timers.tick(100);
    await settled();
  };
  return { ...fixture, root, answer, source, ended, save, pass };
}

test('outdated tests run first, and after a save those that it affects', async () => {
  const { sidecar, view, root, answer, source, ended, save, pass } = switchOn();
  answer.tests = ['a.py', 'b.py'];
  await pass();
  assert.deepEqual(sidecar.params('trellis/affectedTests'), [{ root, paths: [] }]);
  assert.deepEqual(sidecar.params('trellis/runTests'), [
    { root, paths: ['a.py', 'b.py'], coverage: false, recordExecution: true },
  ]);
  answer.tests = ['a.py::t'];
  answer.changed = [{ path: 'code.py', function: 'f' }];
  const path = save('code.py');
  save('more.py');
  await pass();
  // The watcher reports the same change once more.
  files.changed.fire({ fsPath: path });
  await pass();
  assert.deepEqual(sidecar.params('trellis/affectedTests').slice(1), [
    { root, paths: ['code.py', 'more.py'] },
  ]);
  assert.deepEqual(sidecar.params('trellis/runTests')[1]?.paths, ['a.py::t']);
  assert.equal(view.runs[1]?.output, 'Changed: f in code.py\r\nno tests ran in 0.00 s\r\n');
  source.cancel();
  await ended;
  save('code.py');
  await pass();
  assert.equal(sidecar.params('trellis/affectedTests').length, 2, 'it is switched off');
});

test('a newer change supersedes a run, whose tests run afterwards', async () => {
  const { sidecar, root, answer, save, pass, view } = switchOn();
  answer.tests = ['a.py'];
  const ends: (() => void)[] = [];
  sidecar.answers['trellis/runTests'] = () => {
    sidecar.events.fire({
      type: 'job',
      job: `run-${ends.length}`,
      method: 'runTests',
      title: '',
      state: 'running',
    });
    return new Promise((resolve) => ends.push(() => resolve(resultOf(root))));
  };
  await pass();
  assert.equal(ends.length, 1);
  save('code.py');
  await pass();
  assert.equal(ends.length, 2, 'the newer run does not wait for the older one');
  ends[0]?.();
  await pass();
  assert.equal(sidecar.params('trellis/affectedTests').length, 2, 'the newer run goes on');
  ends[1]?.();
  await pass();
  const asked = sidecar.params('trellis/affectedTests').map((it) => it.paths);
  assert.deepEqual(asked, [[], ['code.py'], []]);
  assert.equal(view.runs.length, 3);
});

test('a superseded run goes on, even if the newer one ended first', async () => {
  const { sidecar, root, answer, save, pass } = switchOn();
  answer.tests = ['a.py'];
  let end = () => {};
  sidecar.answers['trellis/runTests'] = () =>
    new Promise((resolve) => {
      end = () => resolve(resultOf(root));
    });
  await pass();
  answer.tests = [];
  save('notes.md');
  await pass();
  end();
  await pass();
  assert.deepEqual(
    sidecar.params('trellis/affectedTests').map((it) => it.paths),
    [[], ['notes.md'], []],
  );
});

test('a run that cannot start is not repeated until the next change', async () => {
  const { sidecar, answer, save, pass } = switchOn();
  answer.tests = ['a.py'];
  sidecar.answers['trellis/runTests'] = () => {
    throw new Error('there is no Python');
  };
  for (let turn = 0; turn < 5; turn += 1) await pass();
  assert.equal(sidecar.params('trellis/runTests').length, 1);
  save('code.py');
  for (let turn = 0; turn < 5; turn += 1) await pass();
  assert.equal(sidecar.params('trellis/runTests').length, 2);
});

test('a run of one test or file is not disturbed by others', async () => {
  const { sidecar, answer, save, pass } = switchOn('a.py::t', 'b.py');
  answer.tests = ['a.py', 'b.py::x', 'c.py'];
  await pass();
  assert.deepEqual(sidecar.params('trellis/runTests')[0]?.paths, ['a.py::t', 'b.py::x']);
  answer.tests = ['c.py'];
  save('code.py');
  await pass();
  assert.equal(sidecar.params('trellis/runTests').length, 1);
});

test('a syntax error is named, its tests are outdated, and nothing turns red', async () => {
  const { sidecar, view, root, answer, save, pass } = switchOn();
  answer.broken = [{ path: 'code.py', line: 3, message: 'expected an expression' }];
  answer.held = ['a.py::t', 'a.py::u'];
  save('code.py');
  await pass();
  assert.equal(sidecar.params('trellis/runTests').length, 0);
  const run = view.runs.at(-1);
  const wanted = 'code.py:3: syntax error: expected an expression\r\n2 tests wait until you correct it.\r\n';
  assert.equal(run?.output, wanted);
  assert.deepEqual(run?.told, ['end']);
  assert.deepEqual(view.outdated.slice(-2), [`${root}\na.py::t`, `${root}\na.py::u`]);
  assert.equal(view.items.get(root)?.description, 'syntax error in code.py, line 3');
  // The error is taken back: nothing is affected, but the results are dimmed.
  answer.broken = [];
  answer.held = [];
  save('code.py');
  await pass();
  assert.deepEqual(sidecar.params('trellis/runTests')[0]?.paths, ['a.py::t', 'a.py::u']);
  assert.equal(view.items.get(root)?.description, '');
});

test('files of worktrees, caches and environments start nothing', () => {
  const own = ['a.py', 'data/x.csv', 'pyproject.toml', '.env', '.config/app.json', 'tests/.data/x'];
  const others = [
    '.trellis/worktrees/w/a.py',
    '.git/index',
    '.venv/lib/a.py',
    '__pycache__/a.pyc',
    '../a.py',
  ];
  assert.deepEqual([...own, ...others].filter(mayBeRead), own);
  const worker = 'server/trellis_sandbox/src/worker/execution_record.py';
  const source = readFileSync(join(process.env.TRELLIS_REPOSITORY ?? '', worker), 'utf8');
  const recorded = /^LEFT_OUT = \{([^}]*)\}/m.exec(source)?.[1]?.match(/[^\s",]+/g);
  assert.deepEqual(recorded, [...LEFT_OUT], 'the sidecar records these files neither');
});

/** Switches a continuous run on, whose batches end when `end` is called. */
function switchOnSlowly() {
  const fixture = switchOn();
  const { sidecar, root, answer } = fixture;
  answer.tests = ['a.py'];
  let end = () => {};
  sidecar.answers['trellis/runTests'] = () =>
    new Promise((resolve) => {
      end = () => resolve(resultOf(root));
    });
  let tick = 0;
  /** Writes a file as another program does. */
  const write = (name: string) => {
    const path = join(root, name);
    writeFileSync(path, '');
    tick += 1;
    utimesSync(path, Date.now() / 1000, Date.now() / 1000 + tick);
    files.changed.fire({ fsPath: path });
  };
  const asked = () => sidecar.params('trellis/affectedTests').map((it) => it.paths);
  return { ...fixture, write, asked, end: () => end() };
}

test('a data file that changes while tests run is met after the run', async () => {
  const { pass, write, asked, end } = switchOnSlowly();
  await pass();
  write('golden.json');
  await pass();
  assert.deepEqual(asked(), [[]], 'the run goes on');
  end();
  await pass();
  assert.deepEqual(asked(), [[], ['golden.json']]);
});

test('a file that a program writes all the time starts no run for ever', async () => {
  const { pass, write, save, asked, end } = switchOnSlowly();
  await pass();
  for (let turn = 0; turn < 5; turn += 1) {
    write('gen.py');
    write('out.db');
    await pass();
    end();
    await pass();
  }
  const before = asked().length;
  assert.ok(before <= 6, `${before} runs`);
  write('gen.py');
  end();
  await pass();
  save('code.py');
  await pass();
  const last = asked().at(-1) as string[];
  assert.ok(last.includes('code.py'), 'a save runs as ever');
});

test('a project that opens later is followed as well, unless the run is of some tests', async () => {
  for (const ids of [[], ['a.py']]) {
    const { sidecar, testing, pass } = switchOn(...ids);
    await pass();
    const other = mkdtempSync(join(tmpdir(), 'continuous-'));
    testing.tree.root(other);
    writeFileSync(join(other, 'code.py'), '');
    editor.saved.fire({ uri: Uri.file(join(other, 'code.py')), getText: () => '' });
    await pass();
    const roots = sidecar.params('trellis/affectedTests').map((it) => it.root);
    assert.equal(roots.includes(other), ids.length === 0);
    assert.equal(testing.followed.has(other), ids.length === 0);
  }
});

test('the newest changes run first, and what did not finish afterwards', () => {
  const queue = new ChangeQueue();
  queue.addAll();
  queue.add('a');
  const first = queue.take();
  assert.deepEqual(first, new Set(['a']));
  queue.add('b');
  queue.putBack(new Set(['a', 'b', 'c']));
  assert.equal(queue.isUrgent, true);
  assert.deepEqual(queue.take(), new Set(['b']));
  queue.add('c');
  queue.add('b');
  assert.deepEqual(queue.take(), new Set(['c', 'b']));
  assert.equal(queue.take(), 'all');
  queue.putBack(new Set(['a']));
  assert.deepEqual(queue.take(), new Set(['a']));
  assert.equal(queue.take(), undefined);
});

test('texts name what changed and what is broken', () => {
  const changed = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((path) => ({ path }));
  const all = affectedOf('/p', { changed: [{ path: '', function: null }, ...changed] });
  assert.equal(introOf(all, 1, l10n.t), 'Changed: the project, a, b, c, d and 3 more');
  assert.equal(introOf(all, 0, l10n.t), undefined);
  assert.equal(waitingText(all, l10n.t), undefined);
  const broken = ['a.py', 'b.py'].map((path) => ({ path, line: 1, message: 'no' }));
  const waiting = affectedOf('/p', { broken, held: ['t.py::t'] });
  assert.match(waitingText(waiting, l10n.t) ?? '', /1 test waits until you correct them\.$/);
  assert.deepEqual(affectedWithin(['tests'], ['tests/a.py', 'b.py']), ['tests/a.py']);
});
