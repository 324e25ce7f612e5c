// Results that are older than the code: they are dimmed when a Python file of their project changes.
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { type Disposable, workspace } from 'vscode';
import type { Testing } from './controller';

/** Milliseconds in which changes are gathered: a branch that is checked out changes many files. */
const BREATH = 100;

/** Marks the results of a project as outdated once one of its files is newer than their run. */
export function outdating({ controller, tree }: Testing): Disposable[] {
  /** By project, when it changed last. */
  const changed = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const mark = () => {
    timer = undefined;
    for (const [root, time] of changed) controller.invalidateTestResults([...tree.ranBefore(root, time)]);
    changed.clear();
  };
  const hear = ({ fsPath }: { fsPath: string }) => {
    const root = tree.projectOf(fsPath);
    if (root === undefined || !isCode(relative(root, fsPath))) return;
    changed.set(root, Math.max(changed.get(root) ?? 0, timeOf(fsPath)));
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

/** When a file was written; what is deleted is gone since now. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}
