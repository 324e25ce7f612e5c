// The one owner of the jobs: hears the sidecar, and tells who shows them.
import { type Disposable, EventEmitter } from 'vscode';
import type { Sidecar } from '../sidecar/api';
import type { Budget } from './cost';
import { afterEvent, begun, isOpen, type Job, type Jobs, NO_JOBS, ofList } from './jobs';

export class Board {
  private readonly changes = new EventEmitter<Jobs>();
  private readonly endings = new EventEmitter<Job>();
  /** Something about a job is new. */
  readonly onChange = this.changes.event;
  /** A job has ended, in whatever way. */
  readonly onEnd = this.endings.event;
  private all: Jobs = NO_JOBS;
  private readonly listening: Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.listening = [
      sidecar.onEvent((event) => {
        // A sidecar that does not answer has ended, and its jobs with it.
        if (event.type === 'missed') this.ask().catch(() => this.take(NO_JOBS));
        else this.take(afterEvent(this.all, event));
      }),
      sidecar.onState((state) => {
        // The jobs of one life end with it; the next one numbers its own anew.
        if (state !== 'running') this.take(NO_JOBS);
      }),
    ];
  }

  get jobs(): Jobs {
    return this.all;
  }

  /** A job that was begun from here, with the folder it is about and what it may cost. */
  began(id: string, out: string, budget?: Budget): void {
    this.take(begun(this.all, id, out, budget));
  }

  private async ask(): Promise<void> {
    const { jobs } = await this.sidecar.request('trellis/jobs', {});
    this.take(ofList(this.all, jobs));
  }

  private take(jobs: Jobs): void {
    if (jobs === this.all) return;
    const before = this.all;
    this.all = jobs;
    for (const job of jobs.values()) {
      const was = before.get(job.id);
      if (!isOpen(job) && (was === undefined || isOpen(was))) this.endings.fire(job);
    }
    this.changes.fire(jobs);
  }

  dispose(): void {
    for (const it of this.listening) it.dispose();
    this.changes.dispose();
    this.endings.dispose();
  }
}
