// Changes of proposals and reviews by other processes: a terminal, another window.
import { existsSync, type Stats, unwatchFile, watchFile } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Disposable, workspace } from 'vscode';

/** Milliseconds between two checks of a project. */
const POLL_MS = 2000;
const TRELLIS_FOLDER = '.trellis';

/** Folders with what waits for the person: fixes, and issues. */
const WATCHED = ['proposals', 'reviews'];

/** A file that each folder `.trellis` contains. */
const MARKER = `**/${TRELLIS_FOLDER}/.gitignore`;

/**
 * Finds projects in the open folders, existing and new ones, and checks known projects wherever they are. The editor's
 * watchers start with a delay; they report a new folder, but not the files that are written into it at once.
 */
export class ProposalWatcher {
  private readonly known = new Map<string, Disposable>();
  private readonly searching: Disposable;
  private isDisposed = false;
  /** Resolves when the existing projects are found. */
  readonly ready: Promise<void>;

  /** @param changed called with the project's folder */
  constructor(private readonly changed: (root: string) => void) {
    const watcher = workspace.createFileSystemWatcher('**/*', false, true, true);
    const made = watcher.onDidCreate(({ fsPath }) => {
      if (basename(fsPath) === TRELLIS_FOLDER) this.report(dirname(fsPath));
      else if (existsSync(join(fsPath, TRELLIS_FOLDER))) this.report(fsPath);
    });
    this.searching = Disposable.from(watcher, made);
    this.ready = this.search();
  }

  /** Checks a project from now on. */
  follow(root: string): void {
    if (this.known.has(root)) return;
    const folders = WATCHED.map((it) => join(root, TRELLIS_FOLDER, it));
    const look = (now: Stats, before: Stats) => {
      // Reading changes the access time of the folder.
      if (now.mtimeMs !== before.mtimeMs) this.changed(root);
    };
    for (const it of folders) watchFile(it, { interval: POLL_MS }, look);
    this.known.set(
      root,
      new Disposable(() => {
        for (const it of folders) unwatchFile(it, look);
      }),
    );
  }

  /** Stops checking a project. */
  forget(root: string): void {
    this.known.get(root)?.dispose();
    this.known.delete(root);
  }

  dispose(): void {
    this.isDisposed = true;
    Disposable.from(this.searching, ...this.known.values()).dispose();
  }

  /** Finds existing projects, whatever the explorer excludes. */
  private async search(): Promise<void> {
    // Without a search, the watcher alone finds projects.
    const signs = await workspace.findFiles(MARKER, null).then(undefined, () => []);
    if (this.isDisposed) return;
    for (const root of new Set(signs.map((it) => dirname(dirname(it.fsPath))))) this.report(root);
  }

  private report(root: string): void {
    if (!this.known.has(root)) this.changed(root);
  }
}
