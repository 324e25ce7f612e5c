// What was asked about the proposals of folders, and why those of some cannot be told.

/** In place of a folder: the list of runs, by which folders are found. */
const RUNS = '';

export class Inquiry {
  /** By folder, the number of the last question about it. */
  private readonly last = new Map<string, number>();
  private readonly troubles = new Map<string, readonly string[]>();
  private count = 0;

  /** Folders that were asked about. */
  get folders(): readonly string[] {
    return [...this.last.keys()].filter((it) => it !== RUNS);
  }

  /** Sentences, of which only the newest answer about each folder has any. */
  get problems(): readonly string[] {
    return [...this.troubles.values()].flat();
  }

  /** Gives the number of the question; that of the runs where no folder is named. */
  ask(root = RUNS): number {
    this.count += 1;
    this.last.set(root, this.count);
    return this.count;
  }

  /**
   * Says whether an answer holds: nobody has asked again, nor forgotten the folder.
   * @param problems what is wrong with it, as sentences
   */
  answered(question: number, problems: readonly string[], root = RUNS): boolean {
    if (this.last.get(root) !== question) return false;
    this.troubles.set(root, problems);
    return true;
  }

  knows(root: string): boolean {
    return this.last.has(root);
  }

  forget(root: string): void {
    this.last.delete(root);
    this.troubles.delete(root);
  }
}
