// The one owner of what is known about runs: finds them, follows them, tells who shows them what changed.
import { existsSync } from 'node:fs';
import { type Disposable, EventEmitter, Uri, workspace } from 'vscode';
import type { Run as Listed, Event as TrellisEvent } from '../protocol';
import type { Sidecar, TrellisError } from '../sidecar/api';
import { toTrellisError } from '../sidecar/errors';
import type { Board } from './board';
import type { Cost } from './cost';
import { isGrowing, isOpen } from './jobs';
import {
  afterEvent,
  differences,
  ofTasks,
  type Run,
  runOf,
  type Standings,
  withCost,
  withStatus,
} from './state';

/** Milliseconds in which changes are gathered before they are told. */
const BREATH = 100;
/** Milliseconds in which at most once is asked what a run costs: nobody tells it unasked. */
const COUNTING = 2000;

/** What is new. */
export interface News {
  readonly run: Run | undefined;
  /** Ids of nodes that are others; `all` where the run is another. */
  readonly changed: 'all' | ReadonlySet<string>;
}

export class Runs {
  private readonly news = new EventEmitter<News>();
  /** At most every 100 ms. */
  readonly onChange = this.news.event;
  /** Why nothing can be shown of a run that is there. */
  private trouble: TrellisError | undefined;
  private shown: Run | undefined;
  /** As it was told last. */
  private told: Run | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The next question what it costs. */
  private counting: NodeJS.Timeout | undefined;
  /** Of what is being read; a newer wish makes an older one void. */
  private wish = 0;
  /** The folder that is being read. */
  private loading: string | undefined;
  /** Something was told of it meanwhile. */
  private stirred = false;
  private readonly listening: Disposable[];

  constructor(
    private readonly sidecar: Sidecar,
    private readonly board: Board,
  ) {
    const deletions = workspace.createFileSystemWatcher('**/*', true, true, false);
    this.listening = [
      deletions,
      deletions.onDidDelete(() => this.leave()),
      sidecar.onEvent((event) => this.hear(event)),
      sidecar.onState((state) => {
        if (state === 'running') void this.refresh();
      }),
      workspace.onDidChangeWorkspaceFolders(() => {
        // A run of a folder that was taken out is of no interest any more.
        const isGone = this.shown !== undefined && !isInside(this.shown.out);
        if (isGone) this.take(undefined, undefined);
        void this.refresh();
      }),
      board.onEnd((job) => {
        if (job.out !== undefined && job.out === this.shown?.out) void this.reread();
      }),
    ];
  }

  /** The run that is shown. */
  get current(): Run | undefined {
    return this.shown;
  }

  /** What the run of a folder has cost, if it is the one that is shown. */
  costOf(out: string): Cost | undefined {
    return this.shown?.out === out ? this.shown.cost : undefined;
  }

  get problem(): TrellisError | undefined {
    return this.trouble;
  }

  /** Shows the run of a folder. */
  async show(out: string): Promise<void> {
    this.wish += 1;
    const { wish } = this;
    this.loading = out;
    this.stirred = false;
    try {
      const run = await this.read(out);
      if (wish !== this.wish) return;
      this.take(run, undefined);
      if (this.stirred) await this.reread();
    } catch (error) {
      if (wish === this.wish) this.take(undefined, toTrellisError(error));
    } finally {
      if (wish === this.wish) this.loading = undefined;
    }
  }

  /** Shows the run that was shown, else the one that is most likely meant. */
  async refresh(): Promise<void> {
    if (this.leave()) return;
    if (this.shown !== undefined) return await this.show(this.shown.out);
    try {
      const all = (await this.sidecar.request('trellis/listRuns', {})).runs;
      const runs = all.filter((it) => existsSync(it.out));
      const likely =
        runs.find((it) => it.state === 'active') ?? runs.find((it) => it.state === 'stopped') ?? runs[0];
      if (likely !== undefined && this.shown === undefined) await this.show(likely.out);
    } catch (error) {
      this.take(undefined, toTrellisError(error));
    }
  }

  /** Shows the next run where the folder of the shown one was deleted; tells whether it was. */
  private leave(): boolean {
    if (this.shown === undefined || existsSync(this.shown.out)) return false;
    this.take(undefined, undefined);
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

  /** None before the first checkpoint: nodes are told one by one then. */
  private async status({ kind, out }: Pick<Run, 'kind' | 'out'>): Promise<Standings | undefined> {
    if (kind === 'tasks') return ofTasks(await this.sidecar.request('trellis/tasksStatus', { out }));
    try {
      return await this.sidecar.request('trellis/status', { out });
    } catch (error) {
      const refusal = toTrellisError(error);
      if (refusal.kind === 'noCheckpoint') return undefined;
      throw refusal;
    }
  }

  private async reread(): Promise<void> {
    const before = this.shown;
    if (before === undefined) return;
    const { out } = before;
    try {
      const { runs } = await this.sidecar.request('trellis/listRuns', { root: out });
      const status = await this.status(before);
      const run = this.shown;
      if (status === undefined || run?.out !== out) return;
      this.take(withStatus(run, status, this.isActive(out, runs)), undefined);
    } catch (error) {
      if (!this.leave()) this.take(this.shown, toTrellisError(error));
    }
  }

  private async count(run: Run): Promise<void> {
    const { out } = run;
    try {
      const status = await this.status(run);
      if (status !== undefined && this.shown?.out === out) this.take(withCost(this.shown, status), undefined);
    } catch (error) {
      if (this.shown?.out === out && !this.leave()) this.take(this.shown, toTrellisError(error));
    } finally {
      this.counting = undefined;
    }
  }

  private hear(event: TrellisEvent): void {
    if (event.type === 'missed') void this.reread();
    if (event.type !== 'node' && event.type !== 'stage') return;
    const out = this.board.jobs.get(event.job)?.out;
    if (out === undefined) return;
    if (this.loading === out) this.stirred = true;
    if (this.shown?.out === out) {
      const run = afterEvent(this.shown, event);
      this.take(run, undefined);
      this.counting ??= setTimeout(() => void this.count(run), COUNTING);
    }
    // A run that begins is what a person wants to see, unless they look at another that goes on.
    else if (this.loading !== out && !this.isOpen(this.loading ?? this.shown?.out)) void this.show(out);
  }

  /** Whether work on this folder is under way. */
  private isOpen(out: string | undefined): boolean {
    return [...this.board.jobs.values()].some((it) => it.out === out && isGrowing(it) && isOpen(it));
  }

  /** Whether anybody is at work on this folder: we, or another process. */
  private isActive(out: string, runs: readonly Listed[]): boolean {
    return this.isOpen(out) || runs.some((it) => it.out === out && it.state === 'active');
  }

  private take(run: Run | undefined, trouble: TrellisError | undefined): void {
    if (run === this.shown && trouble === this.trouble) return;
    this.shown = run;
    this.trouble = trouble;
    this.timer ??= setTimeout(() => this.tell(), BREATH);
  }

  private tell(): void {
    this.timer = undefined;
    const [before, run] = [this.told, this.shown];
    this.told = run;
    this.news.fire({ run, changed: differences(before, run) });
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearTimeout(this.counting);
    for (const it of this.listening) it.dispose();
    this.news.dispose();
  }
}

function isInside(path: string): boolean {
  return workspace.getWorkspaceFolder(Uri.file(path)) !== undefined;
}
