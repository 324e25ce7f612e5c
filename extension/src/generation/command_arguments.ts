// Arguments of commands, which may be anything.

/** Returns the fields with these names that are strings. */
export function stringFields<K extends string>(argument: unknown, ...names: K[]): { [P in K]?: string } {
  const all = new Map(typeof argument === 'object' && argument !== null ? Object.entries(argument) : []);
  const found: { [P in K]?: string } = {};
  for (const name of names) {
    const value: unknown = all.get(name);
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}
