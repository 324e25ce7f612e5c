// Test ids as paths in a tree: file, classes, function, parameters.

export interface IdStep {
  /** Id up to this step, which can be run. */
  readonly id: string;
  /** Part of the id that this step adds. */
  readonly label: string;
}

/** Splits an id of the sidecar: `tests/test_a.py::TestX::test_b[1]` has four steps. */
export function idSteps(id: string): readonly IdStep[] {
  const bracket = id.indexOf('[');
  const base = bracket < 0 ? id : id.slice(0, bracket);
  const labels = base.split('::');
  const steps = labels.map((label, at) => ({ id: labels.slice(0, at + 1).join('::'), label }));
  return bracket < 0 ? steps : [...steps, { id, label: id.slice(bracket) }];
}

/** Removes ids below other ids, which run them as well. */
export function outermost(ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  return ids.filter((id) => !idSteps(id).some((step) => step.id !== id && all.has(step.id)));
}

/** Returns whether an id is that of a target (a file, folder, class or function), or lies below it. */
export function isWithin(target: string, id: string): boolean {
  if (target === '' || target === id) return true;
  const next = id.charAt(target.length);
  return id.startsWith(target) && (next === ':' || next === '[' || next === '/');
}
