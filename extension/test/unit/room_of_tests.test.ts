// The Testing view: what it asks of the sidecar, and what it shows.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Board } from '../../src/generation/board';
import { isInternal } from '../../src/run/folders';
import type { SidecarState } from '../../src/sidecar/api';
import { shows } from '../../src/sidecar/shows';
import { lensCommands } from '../../src/testing/lens_commands';
import { showOthers } from '../../src/testing/others';
import { asClient, resultOf, roomOf, settled } from './room_of_tests';
import { Disposable, editor, Range, run, Uri, workspace } from './vscode';

beforeEach(() => {
  workspace.isTrusted = true;
});

test('a folder without trust says why it has no tests, and has them once it is trusted', async () => {
  workspace.isTrusted = false;
  const { sidecar, view } = roomOf('/p');
  const root = view.items.get('/p');
  await view.resolveHandler?.(root);
  assert.equal(root?.error, 'Tests are found when you trust this folder');
  assert.equal(sidecar.asked.length, 0);
  sidecar.answers['trellis/runTests'] = () => resultOf('/p', { outcome: 'noTests', notRun: ['a.py::t'] });
  workspace.isTrusted = true;
  editor.trusted.fire(undefined);
  assert.equal(root?.error, undefined);
  // The sidecar starts again, and answers nobody until then.
  const states: SidecarState[] = ['restarting', 'running', 'restarting', 'running'];
  for (const state of states) sidecar.states.fire(state);
  await settled();
  assert.deepEqual(view.ids, ['/p', 'a.py', 'a.py::t']);
  assert.equal(sidecar.params('trellis/runTests').length, 1);
});

test('without trust no lens and no action executes anything, and what only reads stays', () => {
  const all = ['generateTests', 'runTests', 'retryNode', 'proposeFix', 'repair', 'showResult'];
  const shown = (isTrusted: boolean, wanted: boolean) => {
    const { lens, action } = shows(
      () => isTrusted,
      () => wanted,
    );
    const of = (sees: typeof lens) => all.filter((it) => sees(`trellis.${it}`));
    return [of(lens), of(action), action(undefined)];
  };
  assert.deepEqual(shown(true, true), [all, all, true]);
  assert.deepEqual(shown(true, false), [[], all, true]);
  assert.deepEqual(shown(false, true), [['showResult'], ['showResult'], true]);
  assert.deepEqual(shown(false, false), [[], ['showResult'], true]);
});

test('what lies below .trellis is no work of the person, unless they opened it themselves', () => {
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

test('tests of a worktree of ours have no place in the view, whoever runs them', async () => {
  const { sidecar, testing, view } = roomOf('/p');
  const client = asClient(sidecar);
  const board = new Board(client);
  const worktree = '/p/.trellis/worktrees/issue-1';
  const parts = [...showOthers(client, board, testing), ...lensCommands(client, board, testing)];
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
  Disposable.from(board, ...parts).dispose();
});
