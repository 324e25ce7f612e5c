// Test ids as paths in a tree: folders, file, classes or groups, function, parameters.
import { extname } from 'node:path/posix';

export interface IdStep {
  /** Id up to this step, which can be run. */
  readonly id: string;
  /** Part of the id that this step adds. */
  readonly label: string;
  readonly kind: 'folder' | 'file' | 'name';
}

/** Splits an id of the sidecar: `tests/test_a.py::TestX::test_b[1]` has five steps. */
export function idSteps(id: string): readonly IdStep[] {
  const path = fileOf(id);
  const inner = id.slice(path.length);
  const parameters = hasParameters(path) ? inner.indexOf('[') : -1;
  const end = path.length + (parameters < 0 ? inner.length : parameters);
  const names = nameEnds(id.slice(0, end), path).map(
    ([start, end]): IdStep => ({ id: id.slice(0, end), label: id.slice(start, end), kind: 'name' }),
  );
  const all = [...pathSteps(path), ...names];
  return parameters < 0 ? all : [...all, { id, label: id.slice(end), kind: 'name' }];
}

/** Returns the places of the names in an id: between `::`, and in Go, whose paths are packages, between `/` too. */
function nameEnds(id: string, path: string): readonly (readonly [number, number])[] {
  const separator = extname(path) === '' ? /::|\//g : /::/g;
  const found = [...id.slice(path.length).matchAll(separator)];
  return found.map((it, at) => [
    path.length + it.index + it[0].length,
    path.length + (found[at + 1]?.index ?? id.length - path.length),
  ]);
}

/** Endings of files whose tests have titles, in which `[` may occur. */
const TITLED: readonly string[] = ['.js', '.cjs', '.mjs', '.jsx', '.ts', '.cts', '.mts', '.tsx'];

/** Returns whether ids of a file end in parameters: those of jest, vitest and Go do not. */
function hasParameters(path: string): boolean {
  const ending = extname(path);
  return ending !== '' && !TITLED.includes(ending);
}

/** Returns the file of an id. */
export function fileOf(id: string): string {
  const end = id.indexOf('::');
  return end < 0 ? id : id.slice(0, end);
}

/** Splits the path of a file; one outside of the project is a single step. */
function pathSteps(path: string): readonly IdStep[] {
  const labels = path.startsWith('/') || path.startsWith('../') ? [path] : path.split('/');
  const last = labels.length - 1;
  return labels.map((label, at) => ({
    id: labels.slice(0, at + 1).join('/'),
    label,
    kind: at < last ? 'folder' : 'file',
  }));
}

/** Removes repeated ids, and those below other ids, which run them as well. */
export function outermost(ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  return [...all].filter((id) => !idSteps(id).some((step) => step.id !== id && all.has(step.id)));
}

/** Returns whether an id is that of a target (a file, folder, class or function), or lies below it. */
export function isWithin(target: string, id: string): boolean {
  if (target === '' || target === id) return true;
  const next = id.charAt(target.length);
  return id.startsWith(target) && (next === ':' || next === '[' || next === '/');
}
