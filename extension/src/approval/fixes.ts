// The one owner of the open proposals: asks for those of every folder, hears the sidecar, tells who shows them.
import { realpath } from 'node:fs/promises';
import { type Disposable, EventEmitter, workspace } from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import { isBelow } from '../run/folders';
import type { JobStore } from '../run/job_store';
import { isOpen } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import { errorText, toTrellisError } from '../sidecar/errors';
import { Inquiry } from './inquiry';
import { afterEvent, arrived, departed, listed, NOTHING, type Proposal, type Queue, without } from './queue';
import { Watch } from './watch';

export interface News {
  readonly queue: Queue;
  /** Those that wait and did not before. */
  readonly arrived: readonly Proposal[];
  /** Those that were open and are not any more. */
  readonly departed: readonly Proposal[];
}

export class Fixes {
  private readonly news = new EventEmitter<News>();
  readonly onChange = this.news.event;
  private now: Queue = NOTHING;
  /** About folders that may have proposals. */
  private readonly inquiry = new Inquiry();
  private readonly listening: Disposable[];
  private readonly watch = new Watch((root) => void real(root).then((it) => this.ask(it)));

  constructor(
    private readonly sidecar: Sidecar,
    jobStore: JobStore,
  ) {
    this.listening = [
      this.watch,
      sidecar.onEvent((event) => this.hear(event)),
      sidecar.onState((state) => {
        if (state === 'running') void this.refresh();
      }),
      workspace.onDidChangeWorkspaceFolders(async ({ removed }) => {
        await this.forget(removed.map((it) => it.uri.fsPath));
        await this.refresh();
      }),
      jobStore.onChange((jobs) => {
        const outs = [...jobs.values()].filter(isOpen).flatMap((it) => it.out ?? []);
        for (const out of outs) if (!this.inquiry.knows(out)) void this.ask(out);
      }),
    ];
  }

  get queue(): Queue {
    return this.now;
  }

  get problems(): readonly string[] {
    return this.inquiry.problems;
  }

  /** Folders that were asked about. */
  get folders(): readonly string[] {
    return this.inquiry.folders;
  }

  /** Asks for the proposals of every folder and every run. */
  async refresh(): Promise<void> {
    const all = [...(await opened()), ...(await Promise.all((await this.runs()).map(real)))];
    await Promise.all([...new Set([...all, ...this.folders])].map((it) => this.ask(it)));
    this.take(this.now);
  }

  /** What lies in folders that were taken out, and in none that is left, is of no interest any more. */
  private async forget(removed: readonly string[]): Promise<void> {
    const [gone, left] = [await Promise.all(removed.map(real)), await opened()];
    const isGone = (root: string) => isBelow(gone, root) && !isBelow(left, root);
    for (const root of this.folders.filter(isGone)) {
      this.inquiry.forget(root);
      this.watch.forget(root);
    }
    this.take(without(this.now, isGone));
  }

  private async runs(): Promise<readonly string[]> {
    const question = this.inquiry.ask();
    try {
      const { runs } = await this.sidecar.request('trellis/listRuns', {});
      this.inquiry.answered(question, []);
      return runs.map((it) => it.out);
    } catch (error) {
      this.inquiry.answered(question, [errorText(toTrellisError(error))]);
      return [];
    }
  }

  private hear(event: TrellisEvent): void {
    if (event.type === 'missed') void this.refresh();
    if (event.type !== 'proposal') return;
    this.take(afterEvent(this.now, event));
    void this.ask(event.root);
  }

  private async ask(root: string): Promise<void> {
    const question = this.inquiry.ask(root);
    this.watch.follow(root);
    try {
      const { fixes, problems } = await this.sidecar.request('trellis/listFixes', { root });
      if (this.inquiry.answered(question, problems, root)) this.take(listed(this.now, root, fixes));
    } catch (error) {
      if (this.inquiry.answered(question, [errorText(toTrellisError(error))], root)) this.take(this.now);
    }
  }

  private take(queue: Queue): void {
    const before = this.now;
    this.now = queue;
    this.news.fire({ queue, arrived: arrived(before, queue), departed: departed(before, queue) });
  }

  dispose(): void {
    for (const it of this.listening) it.dispose();
    this.news.dispose();
  }
}

/** The folders of the workspace. */
async function opened(): Promise<readonly string[]> {
  return await Promise.all((workspace.workspaceFolders ?? []).map((it) => real(it.uri.fsPath)));
}

/** The sidecar tells folders by their own paths; one that is not there yet has no other. */
async function real(folder: string): Promise<string> {
  return await realpath(folder).catch(() => folder);
}
