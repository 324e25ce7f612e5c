// Results that are older than the code: they are dimmed when a Python file of their project changes.
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { type Disposable, workspace } from 'vscode';
import type { TestView } from './test_view';

/** Milliseconds in which changes are gathered: a branch that is checked out changes many files. */
const BREATH = 100;

/** Dims the results of a project once one of its files is newer than their run. */
export function outdating({ tree }: TestView): Disposable[] {
  let timer: NodeJS.Timeout | undefined;
  const mark = () => {
    timer = undefined;
    tree.dim();
  };
  const hear = ({ fsPath }: { fsPath: string }) => {
    const root = tree.projectOf(fsPath);
    if (root === undefined || !isCode(relative(root, fsPath))) return;
    tree.change(root, timeOf(fsPath));
    timer ??= setTimeout(mark, BREATH);
  };
  const watcher = workspace.createFileSystemWatcher('**/*.py');
  return [
    watcher,
    watcher.onDidCreate(hear),
    watcher.onDidChange(hear),
    watcher.onDidDelete(hear),
    // The editor's watchers are late, and see nothing on some disks.
    workspace.onDidSaveTextDocument(({ uri }) => hear(uri)),
    { dispose: () => clearTimeout(timer) },
  ];
}

/** Whether a file is the person's own: neither what tools keep in hidden folders nor what is installed. */
export function isCode(path: string): boolean {
  const steps = path.split(/[\\/]/);
  const isForeign = (it: string) => it.startsWith('.') || it === 'site-packages' || it === 'node_modules';
  return path.endsWith('.py') && !steps.some(isForeign);
}

/** When a file was written or put in its place; what is deleted is gone since now. */
function timeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? Date.now() : Math.max(found.mtimeMs, found.ctimeMs);
}
