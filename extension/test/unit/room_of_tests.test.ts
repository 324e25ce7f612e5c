// The Testing view: what it asks of the sidecar, and what it shows.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { SidecarState } from '../../src/sidecar/api';
import { shows } from '../../src/sidecar/shows';
import { resultOf, roomOf, settled } from './room_of_tests';
import { editor, workspace } from './vscode';

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
