// Planning graphs and lists of tasks of the open folders: the explorer offers what can be done with them, and with no other file.
import { commands, Disposable, type TextDocument, type Uri, workspace } from 'vscode';
import { kindOf, type PlanKind } from './plan_kind';

/** Names that such files have; others are known once they are opened. */
const NAMES = '**/*{rpg,graph,plan,task}*.json';
/** Folders in which no file is the person's plan. */
export const NO_PLANS = '**/{.*,node_modules,venv,site-packages}/**';
/** So many files are read at most. */
const MOST_FILES = 200;
/** Bytes of files that are read. */
const LARGEST = 8_000_000;

/** Context keys, which the editor's menus look into for the path of a file. */
const KEYS = { graph: 'trellis.graphFiles', tasks: 'trellis.taskFiles' } as const;

/** Follows the files, and tells the editor's menus which they are. */
export class PlanFiles {
  private readonly known = { graph: new Set<string>(), tasks: new Set<string>() };
  private readonly listening: Disposable[];
  /** Once those that were there in the beginning are known. */
  readonly looked: Promise<unknown>;

  constructor() {
    const watcher = workspace.createFileSystemWatcher(NAMES);
    this.listening = [
      watcher,
      watcher.onDidCreate((it) => this.look(it)),
      watcher.onDidChange((it) => this.look(it)),
      watcher.onDidDelete((it) => this.put(it.fsPath, 'other')),
      workspace.onDidOpenTextDocument((it) => this.hear(it)),
      workspace.onDidSaveTextDocument((it) => this.hear(it)),
    ];
    for (const it of workspace.textDocuments) this.hear(it);
    this.looked = this.lookAll();
  }

  dispose(): void {
    Disposable.from(...this.listening).dispose();
  }

  private async lookAll(): Promise<void> {
    const all = await workspace.findFiles(NAMES, NO_PLANS, MOST_FILES);
    await Promise.all(all.map((it) => this.look(it)));
  }

  private async look(uri: Uri): Promise<void> {
    if (!isHidden(uri)) this.put(uri.fsPath, await kindOfFile(uri));
  }

  private hear(document: TextDocument): void {
    const { uri } = document;
    if (uri.scheme !== 'file' || !uri.fsPath.endsWith('.json') || isHidden(uri)) return;
    this.put(uri.fsPath, kindOf(document.getText()));
  }

  private put(path: string, found: PlanKind): void {
    for (const kind of ['graph', 'tasks'] as const) {
      const files = this.known[kind];
      const had = files.delete(path);
      if (found === kind) files.add(path);
      if (had !== (found === kind)) void commands.executeCommand('setContext', KEYS[kind], [...files]);
    }
  }
}

/** Whether a file lies in a hidden folder of the workspace, such as `.vscode`. */
function isHidden(uri: Uri): boolean {
  return workspace
    .asRelativePath(uri)
    .split('/')
    .some((it) => it.startsWith('.') || it === 'node_modules');
}

/** `other` where it cannot be read. */
async function kindOfFile(uri: Uri): Promise<PlanKind> {
  try {
    if ((await workspace.fs.stat(uri)).size > LARGEST) return 'other';
    return kindOf(new TextDecoder().decode(await workspace.fs.readFile(uri)));
  } catch {
    // It is gone, or nobody may read it: nothing can be done with it either way.
    return 'other';
  }
}
