// Arguments of commands, which may be anything.

/** Returns the fields with these names that are strings. */
export function stringFields<K extends string>(given: unknown, ...names: K[]): { [P in K]?: string } {
  const all = new Map(typeof given === 'object' && given !== null ? Object.entries(given) : []);
  const found: { [P in K]?: string } = {};
  for (const name of names) {
    const value: unknown = all.get(name);
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}
