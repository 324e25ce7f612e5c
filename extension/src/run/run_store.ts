// The run that is shown: finds it, follows it, and reports its changes.
import { existsSync } from 'node:fs';
import { type Disposable, EventEmitter, Uri, workspace } from 'vscode';
import type { Run as Listed, Event as TrellisEvent } from '../protocol';
import type { Sidecar, TrellisError } from '../sidecar/api';
import { toTrellisError } from '../sidecar/errors';
import type { Cost } from './cost';
import type { JobStore } from './job_store';
import { isOpen, isRun } from './jobs';
import {
  applyEvent,
  changedNodes,
  type NodeStatuses,
  type Run,
  runOf,
  statusesOfTasks,
  withCost,
  withStatus,
} from './run_state';

/** Milliseconds in which changes are collected before they are reported. */
const CHANGE_DELAY_MS = 100;
/** Minimal milliseconds between two requests for the cost, which no event has. */
const COST_INTERVAL_MS = 2000;

/** A change of the shown run. */
export interface RunChange {
  readonly run: Run | undefined;
  /** Ids of changed nodes; `all` if the run is another one. */
  readonly changed: 'all' | ReadonlySet<string>;
}

export class RunStore {
  private readonly changeEmitter = new EventEmitter<RunChange>();
  /** Fires at most every 100 ms. */
  readonly onChange = this.changeEmitter.event;
  /** Reason if an existing run cannot be shown. */
  private currentError: TrellisError | undefined;
  private shown: Run | undefined;
  /** The run of the last reported change. */
  private reported: Run | undefined;
  private changeTimer: NodeJS.Timeout | undefined;
  /** Timer of the next request for the cost. */
  private costTimer: NodeJS.Timeout | undefined;
  /** Number of the last request to show a run; results of earlier ones are dropped. */
  private request = 0;
  /** Folder that is being read. */
  private loading: string | undefined;
  /** Whether an event came while the folder was read. */
  private isOutdated = false;
  private readonly listening: Disposable[];

  constructor(
    private readonly sidecar: Sidecar,
    private readonly jobStore: JobStore,
  ) {
    const deletions = workspace.createFileSystemWatcher('**/*', true, true, false);
    this.listening = [
      deletions,
      deletions.onDidDelete(() => this.dropDeleted()),
      sidecar.onEvent((event) => this.handleEvent(event)),
      sidecar.onState((state) => {
        if (state === 'running') void this.refresh();
      }),
      workspace.onDidChangeWorkspaceFolders(() => {
        // A run of a removed folder is not shown any more.
        const isGone = this.shown !== undefined && !isInWorkspace(this.shown.out);
        if (isGone) this.update(undefined, undefined);
        void this.refresh();
      }),
      jobStore.onEnd((job) => {
        if (job.out !== undefined && job.out === this.shown?.out) void this.reload();
      }),
    ];
  }

  /** The shown run. */
  get current(): Run | undefined {
    return this.shown;
  }

  /** Returns the cost of the run in a folder, if it is the shown one. */
  costOf(out: string): Cost | undefined {
    return this.shown?.out === out ? this.shown.cost : undefined;
  }

  get error(): TrellisError | undefined {
    return this.currentError;
  }

  /** Shows the run of a folder. */
  async show(out: string): Promise<void> {
    this.request += 1;
    const { request } = this;
    this.loading = out;
    this.isOutdated = false;
    try {
      const run = await this.read(out);
      if (request !== this.request) return;
      this.update(run, undefined);
      if (this.isOutdated) await this.reload();
    } catch (error) {
      if (request === this.request) this.update(undefined, toTrellisError(error));
    } finally {
      if (request === this.request) this.loading = undefined;
    }
  }

  /** Reads the shown run again, else shows the run that is most likely meant. */
  async refresh(): Promise<void> {
    if (this.dropDeleted()) return;
    if (this.shown !== undefined) return await this.show(this.shown.out);
    try {
      const all = (await this.sidecar.request('trellis/listRuns', {})).runs;
      const runs = all.filter((it) => existsSync(it.out));
      const likely =
        runs.find((it) => it.state === 'active') ?? runs.find((it) => it.state === 'stopped') ?? runs[0];
      if (likely !== undefined && this.shown === undefined) await this.show(likely.out);
    } catch (error) {
      this.update(undefined, toTrellisError(error));
    }
  }

  /** Shows the next run if the folder of the shown one was deleted; returns whether it was. */
  private dropDeleted(): boolean {
    if (this.shown === undefined || existsSync(this.shown.out)) return false;
    this.update(undefined, undefined);
    void this.refresh();
    return true;
  }

  private async read(out: string): Promise<Run> {
    const { runs } = await this.sidecar.request('trellis/listRuns', { root: out });
    const listed = runs.find((it) => it.out === out);
    const graph = listed?.graph ?? `${out}/docs/rpg.json`;
    const about = { kind: listed?.kind ?? 'generate', out, graph };
    const plan = await this.sidecar.request('trellis/planShow', { graph });
    return runOf(about, plan, await this.status(about), this.isActive(out, runs));
  }

  /** Reads the checkpoint; `undefined` before the first one, when only events tell of nodes. */
  private async status({ kind, out }: Pick<Run, 'kind' | 'out'>): Promise<NodeStatuses | undefined> {
    if (kind === 'tasks') return statusesOfTasks(await this.sidecar.request('trellis/tasksStatus', { out }));
    try {
      return await this.sidecar.request('trellis/status', { out });
    } catch (error) {
      const trellisError = toTrellisError(error);
      if (trellisError.kind === 'noCheckpoint') return undefined;
      throw trellisError;
    }
  }

  private async reload(): Promise<void> {
    const before = this.shown;
    if (before === undefined) return;
    const { out } = before;
    try {
      const { runs } = await this.sidecar.request('trellis/listRuns', { root: out });
      const status = await this.status(before);
      const run = this.shown;
      if (status === undefined || run?.out !== out) return;
      this.update(withStatus(run, status, this.isActive(out, runs)), undefined);
    } catch (error) {
      if (!this.dropDeleted()) this.update(this.shown, toTrellisError(error));
    }
  }

  private async updateCost(run: Run): Promise<void> {
    const { out } = run;
    try {
      const status = await this.status(run);
      if (status !== undefined && this.shown?.out === out)
        this.update(withCost(this.shown, status), undefined);
    } catch (error) {
      if (this.shown?.out === out && !this.dropDeleted()) this.update(this.shown, toTrellisError(error));
    } finally {
      this.costTimer = undefined;
    }
  }

  private handleEvent(event: TrellisEvent): void {
    if (event.type === 'missed') void this.reload();
    if (event.type !== 'node' && event.type !== 'stage') return;
    const out = this.jobStore.jobs.get(event.job)?.out;
    if (out === undefined) return;
    if (this.loading === out) this.isOutdated = true;
    if (this.shown?.out === out) {
      const run = applyEvent(this.shown, event);
      this.update(run, undefined);
      this.costTimer ??= setTimeout(() => void this.updateCost(run), COST_INTERVAL_MS);
    }
    // A run that begins is shown, unless the shown one is still open.
    else if (this.loading !== out && !this.isOpen(this.loading ?? this.shown?.out)) void this.show(out);
  }

  /** Returns whether a job of this window works on a folder. */
  private isOpen(out: string | undefined): boolean {
    return [...this.jobStore.jobs.values()].some((it) => it.out === out && isRun(it) && isOpen(it));
  }

  /** Returns whether any process works on a folder. */
  private isActive(out: string, runs: readonly Listed[]): boolean {
    return this.isOpen(out) || runs.some((it) => it.out === out && it.state === 'active');
  }

  private update(run: Run | undefined, error: TrellisError | undefined): void {
    if (run === this.shown && error === this.currentError) return;
    this.shown = run;
    this.currentError = error;
    this.changeTimer ??= setTimeout(() => this.fireChange(), CHANGE_DELAY_MS);
  }

  private fireChange(): void {
    this.changeTimer = undefined;
    const [before, run] = [this.reported, this.shown];
    this.reported = run;
    this.changeEmitter.fire({ run, changed: changedNodes(before, run) });
  }

  dispose(): void {
    clearTimeout(this.changeTimer);
    clearTimeout(this.costTimer);
    for (const it of this.listening) it.dispose();
    this.changeEmitter.dispose();
  }
}

function isInWorkspace(path: string): boolean {
  return workspace.getWorkspaceFolder(Uri.file(path)) !== undefined;
}
