// Which job belongs to whom: the sidecar tells of all jobs, and a request hears the id of its own only with the answer.
import type { Event as TrellisEvent } from '../protocol';

/** Jobs that somebody here waits for. */
const taken = new Set<string>();

/**
 * The job of one request. To be made right before the request is sent: its job is the first of the method that begins from
 * then on and is nobody else's, since the sidecar begins them in the order in which they are asked for.
 */
export class Claim {
  private job: string | undefined;

  /**
   * @param method without `trellis/`
   * @param begun hears the id of the job
   */
  constructor(
    private readonly method: string,
    private readonly begun: (job: string) => void = () => {},
  ) {}

  /** Whether an event is of this job; the one that begins it is. */
  owns(event: TrellisEvent): boolean {
    if (event.type === 'job') this.take(event);
    return 'job' in event && event.job !== undefined && event.job !== null && event.job === this.job;
  }

  /** Nobody waits for it any more. */
  dispose(): void {
    if (this.job !== undefined) taken.delete(this.job);
  }

  private take({ job, method, state }: Extract<TrellisEvent, { type: 'job' }>): void {
    if (this.job !== undefined || method !== this.method || state !== 'running' || taken.has(job)) return;
    this.job = job;
    taken.add(job);
    this.begun(job);
  }
}
