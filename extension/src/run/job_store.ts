// The jobs of the sidecar, kept up to date by its events.
import { type Disposable, EventEmitter } from 'vscode';
import type { Sidecar } from '../sidecar/api';
import type { Budget } from './cost';
import { applyEvent, fromList, isOpen, type Job, type Jobs, NO_JOBS, withStarted } from './jobs';

/** A person's decision on a job. */
export interface JobControl {
  readonly job: string;
  readonly method: 'trellis/pauseJob' | 'trellis/resumeJob' | 'trellis/cancelJob';
}

export class JobStore {
  private readonly changeEmitter = new EventEmitter<Jobs>();
  private readonly endEmitter = new EventEmitter<Job>();
  /** Fires when anything about a job changed. */
  readonly onChange = this.changeEmitter.event;
  /** Fires when a job has ended, for any reason. */
  readonly onEnd = this.endEmitter.event;
  private readonly controlEmitter = new EventEmitter<JobControl>();
  /** Fires when the person pauses, resumes or cancels a job, before the sidecar knows. */
  readonly onControl = this.controlEmitter.event;
  private current: Jobs = NO_JOBS;
  private readonly listening: Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.listening = [
      sidecar.onEvent((event) => {
        // A sidecar that does not answer has ended, and its jobs with it.
        if (event.type === 'missed') this.reload().catch(() => this.update(NO_JOBS));
        else this.update(applyEvent(this.current, event));
      }),
      sidecar.onState((state) => {
        // Jobs end with their process; the next one numbers its jobs anew.
        if (state !== 'running') this.update(NO_JOBS);
      }),
    ];
  }

  get jobs(): Jobs {
    return this.current;
  }

  /** Adds a job that was begun from here, with its folder and budget. */
  started(id: string, out: string, budget?: Budget): void {
    this.update(withStarted(this.current, id, out, budget));
  }

  /** Pauses, resumes or cancels a job. */
  async control(method: JobControl['method'], job: string): Promise<void> {
    this.controlEmitter.fire({ job, method });
    await this.sidecar.request(method, { job });
  }

  private async reload(): Promise<void> {
    const { jobs } = await this.sidecar.request('trellis/jobs', {});
    this.update(fromList(this.current, jobs));
  }

  private update(jobs: Jobs): void {
    if (jobs === this.current) return;
    const before = this.current;
    this.current = jobs;
    for (const job of jobs.values()) {
      const was = before.get(job.id);
      if (!isOpen(job) && (was === undefined || isOpen(was))) this.endEmitter.fire(job);
    }
    this.changeEmitter.fire(jobs);
  }

  dispose(): void {
    for (const it of this.listening) it.dispose();
    this.changeEmitter.dispose();
    this.endEmitter.dispose();
    this.controlEmitter.dispose();
  }
}
