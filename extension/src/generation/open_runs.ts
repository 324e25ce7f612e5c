// Runs under way, remembered with the workspace: a reload of the window ends them, though nobody wanted that.
import type { Disposable, Memento } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Sidecar } from '../sidecar/api';

const STATE = 'trellis.openRuns';
/** Milliseconds between two notes of the time. */
const INTERVAL_MS = 3_000;
/** Milliseconds after which a person has not reloaded the window, but left. A reload takes half a minute on a busy machine. */
const RELOAD_MS = 60_000;

interface OpenRunsState {
  readonly outs: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

export class OpenRuns {
  private readonly outs = new Set<string>();
  /** Jobs that the person has paused or cancelled. */
  private readonly held = new Set<string>();
  /** Folders of the runs that were under way when the last window ended, a moment ago. */
  readonly interrupted: readonly string[];

  constructor(private readonly memento: Memento) {
    const { outs, at } = memento.get<OpenRunsState>(STATE, { outs: [], at: 0 });
    // The note stays: another reload may come before these runs go on.
    this.interrupted = Date.now() - at <= RELOAD_MS ? outs : [];
  }

  /** Follows the runs of this window. */
  follow(sidecar: Sidecar, jobStore: JobStore): Disposable[] {
    const timer = setInterval(() => {
      if (this.outs.size > 0) this.note();
    }, INTERVAL_MS);
    return [
      { dispose: () => clearInterval(timer) },
      // Runs that a crash or a restart of the server ends are offered: the person decides.
      sidecar.onState((state) => {
        if (state === 'restarting' || (state === 'stopped' && !sidecar.isEnding)) this.clear();
      }),
      jobStore.onControl(({ job, method }) => {
        if (method === 'trellis/resumeJob') this.held.delete(job);
        else this.held.add(job);
        const out = jobStore.jobs.get(job)?.out;
        if (out !== undefined && this.held.has(job)) this.change(out, false);
      }),
      // Jobs that vanish have lost their process, as in a reload; those that end have a result.
      jobStore.onChange((jobs) => {
        for (const { id, method, out, state } of jobs.values()) {
          // A retried node would become the whole run, and task lists are resumed by their own command.
          if (out === undefined || method !== 'generate') continue;
          if (state === 'running' && !this.held.has(id)) this.change(out, true);
          // A person who paused a run wants it to wait.
          if (state === 'paused') this.change(out, false);
        }
      }),
      jobStore.onEnd(({ out }) => {
        if (out !== undefined) this.change(out, false);
      }),
    ];
  }

  private change(out: string, isOpen: boolean): void {
    if (this.outs.has(out) === isOpen) return;
    if (isOpen) this.outs.add(out);
    else this.outs.delete(out);
    this.note();
  }

  private clear(): void {
    for (const it of [...this.outs]) this.change(it, false);
  }

  private note(): void {
    void this.memento.update(STATE, { outs: [...this.outs], at: Date.now() });
  }
}
