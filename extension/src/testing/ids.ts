// Ids of tests as the way through a tree: file, classes, function, parameters.

export interface Step {
  /** The id up to here, which is one that can be run. */
  readonly id: string;
  /** What is new since the step before. */
  readonly label: string;
}

/** `tests/test_a.py::TestX::test_b[1]` is four steps; an id is written by the sidecar, `::` between its parts. */
export function stepsOf(id: string): readonly Step[] {
  const bracket = id.indexOf('[');
  const base = bracket < 0 ? id : id.slice(0, bracket);
  const labels = base.split('::');
  const steps = labels.map((label, at) => ({ id: labels.slice(0, at + 1).join('::'), label }));
  return bracket < 0 ? steps : [...steps, { id, label: id.slice(bracket) }];
}

/** Ids of one run that are below others of it are run by those. */
export function outermost(ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  return ids.filter((id) => !stepsOf(id).some((step) => step.id !== id && all.has(step.id)));
}

/** Whether an id is that of a target, or lies below it: a file, a folder, a class, a function. */
export function isWithin(target: string, id: string): boolean {
  if (target === '' || target === id) return true;
  const next = id.charAt(target.length);
  return id.startsWith(target) && (next === ':' || next === '[' || next === '/');
}
