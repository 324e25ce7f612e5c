// Test ids as paths in a tree: folders, file, classes, function, parameters.

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
  const bracket = inner.indexOf('[');
  const names = (bracket < 0 ? inner : inner.slice(0, bracket)).split('::').slice(1);
  const steps = names.map(
    (label, at): IdStep => ({ id: [path, ...names.slice(0, at + 1)].join('::'), label, kind: 'name' }),
  );
  const all = [...pathSteps(path), ...steps];
  return bracket < 0 ? all : [...all, { id, label: inner.slice(bracket), kind: 'name' }];
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
