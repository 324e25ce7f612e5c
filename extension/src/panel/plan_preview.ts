// A planning graph or task list that is shown before its run.
import { type Disposable, EventEmitter, RelativePattern, Uri, workspace } from 'vscode';
import type { PlanEstimateResult } from '../protocol';
import { type Run, runOf } from '../run/run_state';
import type { Sidecar } from '../sidecar/api';

/** A plan with its nodes, all of them pending. */
export interface PlannedRun {
  readonly run: Run;
  readonly estimate: PlanEstimateResult;
}

export class PlanPreview {
  private readonly changeEmitter = new EventEmitter<void>();
  readonly onChange = this.changeEmitter.event;
  private shown: PlannedRun | undefined;
  private readonly listening: Disposable[];
  /** Follows the file of the plan, which others may change as well. */
  private watcher: Disposable | undefined;

  constructor(private readonly sidecar: Sidecar) {
    this.listening = [
      this.changeEmitter,
      workspace.onDidSaveTextDocument(({ uri }) => {
        if (uri.fsPath === this.shown?.run.graph) void this.reload(uri.fsPath);
      }),
      workspace.onDidChangeConfiguration((it) => {
        if (this.shown !== undefined && it.affectsConfiguration('trellis.model'))
          void this.reload(this.shown.run.graph);
      }),
    ];
  }

  get current(): PlannedRun | undefined {
    return this.shown;
  }

  /** Shows the plan of a file. */
  async show(file: string): Promise<void> {
    this.shown = await this.read(file);
    this.watch(file);
    this.changeEmitter.fire();
  }

  /** Shows no plan any more. */
  clear(): void {
    if (this.shown === undefined) return;
    this.shown = undefined;
    this.changeEmitter.fire();
  }

  dispose(): void {
    this.watcher?.dispose();
    for (const it of this.listening) it.dispose();
  }

  /** Reads the file again, if its plan is shown. */
  async reload(file: string): Promise<void> {
    const read = await this.read(file).catch(() => undefined);
    // A file that is no plan for the moment has a diagnostic; the picture of before stays.
    if (read === undefined || this.shown?.run.graph !== file) return;
    this.shown = read;
    this.changeEmitter.fire();
  }

  private watch(file: string): void {
    this.watcher?.dispose();
    const folder = Uri.joinPath(Uri.file(file), '..');
    // The name itself could be a pattern that matches other names.
    const watcher = workspace.createFileSystemWatcher(new RelativePattern(folder, '*'));
    watcher.onDidChange(({ fsPath }) => fsPath === file && this.reload(file));
    this.watcher = watcher;
  }

  private async read(graph: string): Promise<PlannedRun> {
    const configured = workspace.getConfiguration('trellis').get('model', '');
    const model = configured === '' ? {} : { model: configured };
    const [plan, estimate] = await Promise.all([
      this.sidecar.request('trellis/planShow', { graph }),
      this.sidecar.request('trellis/planEstimate', { graph, ...model }),
    ]);
    const kind = plan.dialect === 'tasks' ? 'tasks' : 'generate';
    return { run: runOf({ kind, out: '', graph }, plan, undefined, false), estimate };
  }
}
