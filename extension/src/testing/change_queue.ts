// Changed files that wait for a continuous run, as a value: the newest first, then what earlier runs did not finish.

/** Files whose tests run next; without any, all tests whose code has changed since they ran. */
export type Batch = ReadonlySet<string> | 'all';

export class ChangeQueue {
  private urgent = new Set<string>();
  private left: { readonly files: Set<string>; all: boolean } = { files: new Set(), all: false };
  /** Files that start no run of their own. */
  private readonly quiet = new Set<string>();

  /** Adds a changed file. */
  add(path: string): void {
    this.urgent.add(path);
  }

  /** Adds a changed file that interrupts no run. */
  addLater(path: string): void {
    this.left.files.add(path);
  }

  /** Adds a changed file that joins the next run. */
  addQuietly(path: string): void {
    this.quiet.add(path);
  }

  /** Adds all tests. */
  addAll(): void {
    this.left.all = true;
  }

  /** Returns whether a file waits that changed since the last batch was taken. */
  get isUrgent(): boolean {
    return this.urgent.size > 0;
  }

  /** Takes what runs next, if anything waits. */
  take(): Batch | undefined {
    const taken = this.takeWaiting();
    if (taken === undefined || taken === 'all') return taken;
    const joined = new Set([...taken, ...this.quiet]);
    this.quiet.clear();
    return joined;
  }

  private takeWaiting(): Batch | undefined {
    if (this.urgent.size > 0) {
      const taken = this.urgent;
      this.urgent = new Set();
      // A run of the newest text answers for earlier ones.
      for (const it of taken) this.left.files.delete(it);
      return taken;
    }
    const { files, all } = this.left;
    this.left = { files: new Set(), all: false };
    if (all) return 'all';
    return files.size > 0 ? files : undefined;
  }

  /** Returns a batch that did not finish; it runs again after newer changes. */
  putBack(batch: Batch): void {
    if (batch === 'all') this.left.all = true;
    else for (const it of batch) if (!this.urgent.has(it)) this.left.files.add(it);
  }
}
