// Requests for the proposals of folders, and the problems that they reported.

/** Key of the list of runs, which names further folders. */
const RUNS = '';

export class ProposalQueries {
  /** Number of the last request, by folder. */
  private readonly lastQuery = new Map<string, number>();
  private readonly problemsOf = new Map<string, readonly string[]>();
  private count = 0;

  /** Folders with a request. */
  get folders(): readonly string[] {
    return [...this.lastQuery.keys()].filter((it) => it !== RUNS);
  }

  /** Problems of the newest answers, as sentences. */
  get problems(): readonly string[] {
    return [...this.problemsOf.values()].flat();
  }

  /** Begins a request about a folder, or about the list of runs; returns its number. */
  begin(root = RUNS): number {
    this.count += 1;
    this.lastQuery.set(root, this.count);
    return this.count;
  }

  /**
   * Records an answer; returns whether it is current: no newer request was begun, and the folder was not removed.
   * @param problems as sentences
   */
  finish(question: number, problems: readonly string[], root = RUNS): boolean {
    if (this.lastQuery.get(root) !== question) return false;
    this.problemsOf.set(root, problems);
    return true;
  }

  has(root: string): boolean {
    return this.lastQuery.has(root);
  }

  forget(root: string): void {
    this.lastQuery.delete(root);
    this.problemsOf.delete(root);
  }
}
