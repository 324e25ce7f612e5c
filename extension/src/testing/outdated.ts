// Outdated results: dimmed when a source of their project changes.
import { statSync } from 'node:fs';
import { extname, relative } from 'node:path';
import { type Disposable, workspace } from 'vscode';
import type { TestView } from './test_view';

/** Milliseconds in which changes are collected: a checkout changes many files. */
const DELAY_MS = 100;

/** Endings of sources in the languages whose tests run. */
export const SOURCES: readonly string[] = ['py', 'js', 'cjs', 'mjs', 'jsx', 'ts', 'cts', 'mts', 'tsx', 'go'];

/** Dims the results of a project when a file is newer than their run. */
export function dimOutdatedResults({ tree, followed }: TestView): Disposable[] {
  let timer: NodeJS.Timeout | undefined;
  const mark = () => {
    timer = undefined;
    tree.dim();
  };
  const onChange = ({ fsPath }: { fsPath: string }) => {
    const root = tree.projectOf(fsPath);
    if (root === undefined || followed.has(root) || !isOwnCode(relative(root, fsPath))) return;
    tree.codeChanged(root, changeTime(fsPath));
    timer ??= setTimeout(mark, DELAY_MS);
  };
  const watcher = workspace.createFileSystemWatcher(`**/*.{${SOURCES.join(',')}}`);
  return [
    watcher,
    watcher.onDidCreate(onChange),
    watcher.onDidChange(onChange),
    watcher.onDidDelete(onChange),
    // The editor's watchers have a delay, and do not work on some disks.
    workspace.onDidSaveTextDocument(({ uri }) => onChange(uri)),
    { dispose: () => clearTimeout(timer) },
  ];
}

/** Returns whether a file is the person's own code, not in a hidden folder or installed. */
export function isOwnCode(path: string): boolean {
  return isSource(path) && isOwnFile(path);
}

/** Returns whether a file is a source in a language whose tests run. */
export function isSource(path: string): boolean {
  return SOURCES.includes(extname(path).slice(1));
}

const FOREIGN: readonly string[] = ['site-packages', 'node_modules', '__pycache__', '..'];

/** Returns whether a file of a project is the person's own, not in a hidden folder, installed or compiled. */
export function isOwnFile(path: string): boolean {
  const folders = path.split(/[\\/]/);
  const name = folders.pop() ?? '';
  const isForeign = (it: string) => it.startsWith('.') || FOREIGN.includes(it);
  return !folders.some(isForeign) && (!name.startsWith('.') || name.startsWith('.pytest'));
}

/** Folders whose files no run records. */
export const LEFT_OUT: readonly string[] = [
  '.git',
  '.hypothesis',
  '.mypy_cache',
  '.nox',
  '.pytest_cache',
  '.ruff_cache',
  '.tox',
  '.trellis',
  '.venv',
  '__pycache__',
  'node_modules',
  'site-packages',
  'venv',
];

/** Returns whether tests may read a file of a project. */
export function mayBeRead(path: string): boolean {
  return !path.split(/[\\/]/).some((it) => it === '..' || LEFT_OUT.includes(it));
}

/** Returns the time at which a file was written or moved; for a deleted file, now. */
function changeTime(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? Date.now() : Math.max(found.mtimeMs, found.ctimeMs);
}
