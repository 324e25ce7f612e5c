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

/** What ends when it is thrown away. */
export class Disposable {
  constructor(private readonly end: () => unknown) {}

  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.map((it) => it.dispose()));
  }

  dispose(): void {
    this.end();
  }
}

/** Open folders: whose files `found` has, and whose new ones `made` tells of. */
export const files = {
  found: [] as { fsPath: string }[],
  asked: [] as { include: string; exclude: unknown }[],
  made: new Set<(it: { fsPath: string }) => void>(),
};

export const workspace = {
  findFiles: async (include: string, exclude: unknown) => {
    files.asked.push({ include, exclude });
    return files.found;
  },
  createFileSystemWatcher: () => ({
    onDidCreate: (hear: (it: { fsPath: string }) => void) => {
      files.made.add(hear);
      return new Disposable(() => files.made.delete(hear));
    },
    dispose: () => undefined,
  }),
};
