// What stands in for the editor's own module in tests that need no editor: as much as pure mappers use.

export const l10n = {
  t(message: string | { message: string }, ...args: unknown[]): string {
    const text = typeof message === 'string' ? message : message.message;
    const [first] = args;
    const values = typeof first === 'object' && first !== null ? { ...first } : { ...args };
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const found = Object.entries(values).find(([key]) => key === name);
      return found === undefined ? whole : String(found[1]);
    });
  },
};
