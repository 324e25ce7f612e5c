// The open proposals and the waiting changes of issues of all folders, kept up to date by events and by the file system.
import { realpath } from 'node:fs/promises';
import { type Disposable, EventEmitter, workspace } from 'vscode';
import { arrivedReviews, type IssueReview } from '../issue/reviews';
import type { Event as TrellisEvent } from '../protocol';
import { isBelow } from '../run/folders';
import type { JobStore } from '../run/job_store';
import { isOpen } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import { errorText, toTrellisError } from '../sidecar/errors';
import { ProposalQueries } from './proposal_query';
import { ProposalWatcher } from './proposal_watcher';
import {
  applyEvent,
  arrived,
  departed,
  EMPTY_QUEUE,
  type Proposal,
  type Queue,
  withList,
  without,
} from './queue';

export interface ProposalChange {
  readonly queue: Queue;
  /** Proposals that wait now and did not before. */
  readonly arrived: readonly Proposal[];
  /** Proposals that were open and are not any more. */
  readonly departed: readonly Proposal[];
  /** Changes of issues that wait now and did not before. */
  readonly arrivedReviews: readonly IssueReview[];
}

export class ProposalStore {
  private readonly changeEmitter = new EventEmitter<ProposalChange>();
  readonly onChange = this.changeEmitter.event;
  private currentQueue: Queue = EMPTY_QUEUE;
  private currentReviews: readonly IssueReview[] = [];
  /** Requests about folders. */
  private readonly queries = new ProposalQueries();
  private readonly listening: Disposable[];
  private readonly watcher = new ProposalWatcher(
    (root) => void realFolder(root).then((it) => this.listProposals(it)),
  );

  constructor(
    private readonly sidecar: Sidecar,
    jobStore: JobStore,
  ) {
    this.listening = [
      this.watcher,
      sidecar.onEvent((event) => this.handleEvent(event)),
      sidecar.onState((state) => {
        if (state === 'running') void this.refresh();
      }),
      workspace.onDidChangeWorkspaceFolders(async ({ removed }) => {
        await this.removeFolders(removed.map((it) => it.uri.fsPath));
        await this.refresh();
      }),
      jobStore.onChange((jobs) => {
        const outs = [...jobs.values()].filter(isOpen).flatMap((it) => it.out ?? []);
        for (const out of outs) if (!this.queries.has(out)) void this.listProposals(out);
      }),
    ];
  }

  get queue(): Queue {
    return this.currentQueue;
  }

  /** Changes of issues that wait for the person. */
  get reviews(): readonly IssueReview[] {
    return this.currentReviews;
  }

  get problems(): readonly string[] {
    return this.queries.problems;
  }

  /** Folders with a request. */
  get folders(): readonly string[] {
    return this.queries.folders;
  }

  /** Lists the proposals of every folder and every run. */
  async refresh(): Promise<void> {
    const all = [
      ...(await workspaceFolders()),
      ...(await Promise.all((await this.runFolders()).map(realFolder))),
    ];
    await Promise.all([...new Set([...all, ...this.folders])].map((it) => this.listProposals(it)));
    this.update(this.currentQueue);
  }

  /** Removes the proposals of removed folders that no other folder contains. */
  private async removeFolders(removed: readonly string[]): Promise<void> {
    const [gone, left] = [await Promise.all(removed.map(realFolder)), await workspaceFolders()];
    const isGone = (root: string) => isBelow(gone, root) && !isBelow(left, root);
    for (const root of this.folders.filter(isGone)) {
      this.queries.forget(root);
      this.watcher.forget(root);
    }
    this.update(
      without(this.currentQueue, isGone),
      this.currentReviews.filter((it) => !isGone(it.root)),
    );
  }

  private async runFolders(): Promise<readonly string[]> {
    const question = this.queries.begin();
    try {
      const { runs } = await this.sidecar.request('trellis/listRuns', {});
      this.queries.finish(question, []);
      return runs.map((it) => it.out);
    } catch (error) {
      this.queries.finish(question, [errorText(toTrellisError(error))]);
      return [];
    }
  }

  private handleEvent(event: TrellisEvent): void {
    if (event.type === 'missed') void this.refresh();
    if (event.type !== 'proposal') return;
    this.update(applyEvent(this.currentQueue, event));
    void this.listProposals(event.root);
  }

  private async listProposals(root: string): Promise<void> {
    const question = this.queries.begin(root);
    this.watcher.follow(root);
    try {
      const [listed, waiting] = await Promise.all([
        this.sidecar.request('trellis/listFixes', { root }),
        this.sidecar.request('trellis/listReviews', { root }),
      ]);
      if (!this.queries.finish(question, [...listed.problems, ...waiting.problems], root)) return;
      const others = this.currentReviews.filter((it) => it.root !== root);
      const reviews = [...others, ...waiting.reviews.map((it) => ({ ...it, root }))];
      this.update(withList(this.currentQueue, root, listed.fixes), reviews);
    } catch (error) {
      if (this.queries.finish(question, [errorText(toTrellisError(error))], root))
        this.update(this.currentQueue);
    }
  }

  private update(queue: Queue, reviews = this.currentReviews): void {
    const [before, earlier] = [this.currentQueue, this.currentReviews];
    [this.currentQueue, this.currentReviews] = [queue, reviews];
    this.changeEmitter.fire({
      queue,
      arrived: arrived(before, queue),
      departed: departed(before, queue),
      arrivedReviews: arrivedReviews(earlier, reviews),
    });
  }

  dispose(): void {
    for (const it of this.listening) it.dispose();
    this.changeEmitter.dispose();
  }
}

/** Returns the folders of the workspace. */
async function workspaceFolders(): Promise<readonly string[]> {
  return await Promise.all((workspace.workspaceFolders ?? []).map((it) => realFolder(it.uri.fsPath)));
}

/** Resolves symbolic links, as the sidecar does; a folder that does not exist yet stays as it is. */
export async function realFolder(folder: string): Promise<string> {
  return await realpath(folder).catch(() => folder);
}
