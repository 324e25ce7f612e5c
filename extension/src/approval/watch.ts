// Proposals that other processes make or decide: a command in a terminal, another window.
import { existsSync, type Stats, unwatchFile, watchFile } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Disposable, workspace } from 'vscode';

/** Milliseconds between two looks at a project that is known. */
const LOOKING = 2000;
const OWN = '.trellis';

/** A file of each folder of ours. */
const SIGN = `**/${OWN}/.gitignore`;

/**
 * Finds projects in the open folders, those that are there and those that come into being, and looks at those that are known,
 * wherever they are. The editor's watchers begin some time later; they tell of a new folder, and miss what is written into it at
 * once.
 */
export class Watch {
  private readonly known = new Map<string, Disposable>();
  private readonly finding: Disposable;
  private isOver = false;
  /** Once what was there in the beginning is found. */
  readonly looked: Promise<void>;

  /**
   * @param changed is told the project's folder
   */
  constructor(private readonly changed: (root: string) => void) {
    const watcher = workspace.createFileSystemWatcher('**/*', false, true, true);
    const made = watcher.onDidCreate(({ fsPath }) => {
      if (basename(fsPath) === OWN) this.found(dirname(fsPath));
      else if (existsSync(join(fsPath, OWN))) this.found(fsPath);
    });
    this.finding = Disposable.from(watcher, made);
    this.looked = this.look();
  }

  /** Looks at a project from now on. */
  follow(root: string): void {
    if (this.known.has(root)) return;
    const folder = join(root, OWN, 'proposals');
    const look = (now: Stats, before: Stats) => {
      // A folder that is only read has another time as well.
      if (now.mtimeMs !== before.mtimeMs) this.changed(root);
    };
    watchFile(folder, { interval: LOOKING }, look);
    this.known.set(root, new Disposable(() => unwatchFile(folder, look)));
  }

  /** Looks at it no more. */
  forget(root: string): void {
    this.known.get(root)?.dispose();
    this.known.delete(root);
  }

  dispose(): void {
    this.isOver = true;
    Disposable.from(this.finding, ...this.known.values()).dispose();
  }

  /** Finds what was there before, whatever the list of files shows. */
  private async look(): Promise<void> {
    // Where nothing can be searched the watcher is all there is.
    const signs = await workspace.findFiles(SIGN, null).then(undefined, () => []);
    if (this.isOver) return;
    for (const root of new Set(signs.map((it) => dirname(dirname(it.fsPath))))) this.found(root);
  }

  private found(root: string): void {
    if (!this.known.has(root)) this.changed(root);
  }
}
