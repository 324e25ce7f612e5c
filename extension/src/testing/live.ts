// What is told of a run of tests while it goes on: which job it is, and what of it is still to be shown in the end.
import type { Event as TrellisEvent } from '../protocol';
import { type Outcome, ofEvent } from './outcomes';

/** Jobs that somebody here waits for. */
const taken = new Set<string>();

/**
 * To be made right before the run is asked for: its job is the first that begins from then on and is nobody else's,
 * since the sidecar begins them in the order in which they are asked for.
 */
export class Live {
  private job: string | undefined;
  private readonly settled = new Set<string>();
  private readonly failed = new Map<string, Outcome>();

  /** Gives what is to be shown at once. What failed is shown when its place is known. */
  hear(event: TrellisEvent): Outcome | undefined {
    if (event.type === 'job') this.claim(event);
    if (event.type !== 'test' || event.job !== this.job) return undefined;
    const outcome = ofEvent(event);
    if (outcome.mark === 'failed') {
      this.failed.set(outcome.id, outcome);
      return undefined;
    }
    this.failed.delete(outcome.id);
    this.settled.add(outcome.id);
    return outcome;
  }

  /**
   * What is left to be shown.
   * @param results what the run came to; none where nobody will ever say
   */
  rest(results: readonly Outcome[]): readonly Outcome[] {
    const known = new Set(results.map((it) => it.id));
    const told = [...this.failed.values()].filter((it) => !known.has(it.id));
    return [...results.filter((it) => !this.settled.has(it.id)), ...told];
  }

  /** Nobody waits for it any more. */
  dispose(): void {
    if (this.job !== undefined) taken.delete(this.job);
  }

  private claim({ job, method, state }: Extract<TrellisEvent, { type: 'job' }>): void {
    if (this.job !== undefined || method !== 'runTests' || state !== 'running' || taken.has(job)) return;
    this.job = job;
    taken.add(job);
  }
}
