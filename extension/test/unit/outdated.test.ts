// Outdated results.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { dimOutdatedResults, isOwnCode } from '../../src/testing/outdated';
import { openTestingView } from './fake_sidecar';
import { Disposable, editor, files, Uri } from './vscode';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Seconds since 1970 of tick 0; tick 20 is about now. */
const start = Date.now() / 1000;
const secondsOf = (tick: number) => start + (tick - 20) * 100;

/** Writes a file with the modification time of a tick. */
function write(path: string, tick: number): { fsPath: string } {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  utimesSync(path, secondsOf(tick), secondsOf(tick));
  return { fsPath: path };
}

test('a result is outdated when a file of its project is newer than its run', () => {
  const root = mkdtempSync(join(tmpdir(), 'outdated-'));
  const nested = join(root, 'grown');
  const { testing, view } = openTestingView(root);
  const listening = Disposable.from(...dimOutdatedResults(testing));
  const ran = (of: string, id: string, tick: number) =>
    testing.tree.place(
      { root: of, id, mark: 'passed', word: 'passed', durationMs: 1 },
      secondsOf(tick) * 1000,
    );
  ran(root, 'a.py::old', 10);
  ran(root, 'a.py::new', 30);
  ran(nested, 'b.py::old', 10);
  testing.tree.item(root, 'a.py::never_run');
  const outdated = () => {
    mock.timers.tick(100);
    return view.outdated.splice(0).map((it) => it.replace('\n', ' '));
  };
  // The change of a file that started the run is reported after the run.
  files.changed.fire(write(join(root, 'shop.py'), 20));
  files.changed.fire(write(join(root, 'cart.py'), 15));
  assert.deepEqual(outdated(), [`${root} a.py::old`]);
  editor.saved.fire({ uri: Uri.file(write(join(root, 'shop.py'), 40).fsPath), getText: () => '' });
  assert.deepEqual(outdated(), [`${root} a.py::new`]);
  files.changed.fire(write(join(nested, 'b.py'), 20));
  assert.deepEqual(outdated(), [`${nested} b.py::old`]);
  for (const path of ['README.md', '.trellis/worktrees/issue-1/shop.py', '.venv/lib/site.py'])
    files.changed.fire(write(join(root, path), 50));
  files.changed.fire(write(join(tmpdir(), `outdated-elsewhere-${process.pid}.py`), 50));
  assert.deepEqual(outdated(), []);
  // A file that replaces another may be older.
  ran(root, 'a.py::old', 10);
  files.changed.fire(write(join(root, 'cart.py'), 1));
  assert.deepEqual(outdated(), [`${root} a.py::old`]);
  // A result whose run began before a change is dimmed when its run ends.
  ran(root, 'a.py::late', 10);
  testing.tree.dim();
  assert.deepEqual(outdated(), [`${root} a.py::late`]);
  ran(root, 'a.py::old', 10);
  rmSync(join(root, 'shop.py'));
  files.deleted.fire({ fsPath: join(root, 'shop.py') });
  assert.deepEqual(outdated(), [`${root} a.py::old`]);
  listening.dispose();
});

test('own code is sources outside of hidden and installed folders', () => {
  const own = ['a.py', 'src/shop/cart.py', 'tests/test_a.py', 'src/a.test.ts', 'b.tsx', 'cart/cart.go'];
  const others = [
    'a.txt',
    'py',
    'a.d.map',
    'node_modules/x/a.js',
    '.trellis/worktrees/w/a.py',
    '.venv/lib/a.py',
    'env/site-packages/a.py',
  ];
  assert.deepEqual([...own, ...others].filter(isOwnCode), own);
});
