// Planning graphs and task lists of the open folders, for the menus of the explorer.
import { commands, Disposable, type TextDocument, type Uri, workspace } from 'vscode';
import { kindOf, type PlanKind } from './plan_kind';

/** Names of such files; files with other names are recognized when they are opened. */
const NAMES = '**/*{rpg,graph,plan,task}*.json';
/** Folders without plans of the person. */
export const EXCLUDED = '**/{.*,node_modules,venv,site-packages}/**';
/** Maximal number of files that are read. */
const MAX_FILES = 200;
/** Maximal size of a file that is read. */
const MAX_BYTES = 8_000_000;

/** Context keys with the paths of the files, which the `when` clauses of menus use. */
const CONTEXT_KEYS = { graph: 'trellis.graphFiles', tasks: 'trellis.taskFiles' } as const;

/** Follows the files, and sets the context keys. */
export class PlanFiles {
  private readonly known = { graph: new Set<string>(), tasks: new Set<string>() };
  private readonly listening: Disposable[];
  /** Resolves when the existing files are known. */
  readonly ready: Promise<unknown>;

  constructor() {
    const watcher = workspace.createFileSystemWatcher(NAMES);
    this.listening = [
      watcher,
      watcher.onDidCreate((it) => this.read(it)),
      watcher.onDidChange((it) => this.read(it)),
      watcher.onDidDelete((it) => this.setKind(it.fsPath, 'other')),
      workspace.onDidOpenTextDocument((it) => this.readDocument(it)),
      workspace.onDidSaveTextDocument((it) => this.readDocument(it)),
    ];
    for (const it of workspace.textDocuments) this.readDocument(it);
    this.ready = this.readAll();
  }

  dispose(): void {
    Disposable.from(...this.listening).dispose();
  }

  private async readAll(): Promise<void> {
    const all = await workspace.findFiles(NAMES, EXCLUDED, MAX_FILES);
    await Promise.all(all.map((it) => this.read(it)));
  }

  private async read(uri: Uri): Promise<void> {
    if (!isHidden(uri)) this.setKind(uri.fsPath, await kindOfFile(uri));
  }

  private readDocument(document: TextDocument): void {
    const { uri } = document;
    if (uri.scheme !== 'file' || !uri.fsPath.endsWith('.json') || isHidden(uri)) return;
    this.setKind(uri.fsPath, kindOf(document.getText()));
  }

  private setKind(path: string, found: PlanKind): void {
    for (const kind of ['graph', 'tasks'] as const) {
      const files = this.known[kind];
      const had = files.delete(path);
      if (found === kind) files.add(path);
      if (had !== (found === kind))
        void commands.executeCommand('setContext', CONTEXT_KEYS[kind], [...files]);
    }
  }
}

/** Returns whether a file lies in a hidden folder of the workspace, such as `.vscode`. */
export function isHidden(uri: Uri): boolean {
  return workspace
    .asRelativePath(uri)
    .split('/')
    .some((it) => it.startsWith('.') || it === 'node_modules');
}

/** Reads the kind of a file; `other` if it cannot be read. */
async function kindOfFile(uri: Uri): Promise<PlanKind> {
  try {
    if ((await workspace.fs.stat(uri)).size > MAX_BYTES) return 'other';
    return kindOf(new TextDecoder().decode(await workspace.fs.readFile(uri)));
  } catch {
    // The file is gone or not readable, and cannot be used.
    return 'other';
  }
}
