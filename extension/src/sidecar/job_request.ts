// Requests that begin jobs. The sidecar sends the events of all jobs, and answers such a request when its job has
// ended, without the id of the job.
import type { CancellationToken } from 'vscode';
import type { JobStarted, Event as TrellisEvent } from '../protocol';
import type { MethodName, Params, Result, Sidecar } from './api';

/** Methods that answer when their job has ended. */
export type JobMethod = { [M in MethodName]: JobStarted extends Result<M> ? M : never }[MethodName];
/** Result of the job of a method. */
export type JobResult<M extends JobMethod> = Exclude<Result<M>, JobStarted>;

/** Callbacks for a job. */
export interface JobListener {
  /** Receives the id of the job, once. */
  readonly onBegin?: (job: string) => void;
  /** Receives each event of the job, from the one that begins it on. */
  readonly onEvent?: (event: TrellisEvent) => void;
}

/**
 * Sends a request that begins a job, and waits for its result.
 * @returns the result; rejects if the job failed or was cancelled
 */
export async function requestJob<M extends JobMethod>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  listener: JobListener = {},
  token?: CancellationToken,
): Promise<JobResult<M> | undefined> {
  const begun = await matcherOf(sidecar).expect(method.replace('trellis/', ''), listener);
  try {
    const answer: Result<M> = await sidecar.request(method, params, token);
    return hasEnded<M>(answer) ? answer : undefined;
  } finally {
    begun.dispose();
  }
}

/** Recognizes a result; the other answer belongs to jobs in the background, which are not requested here. */
function hasEnded<M extends JobMethod>(answer: object): answer is JobResult<M> {
  return !('job' in answer);
}

const matchers = new WeakMap<Sidecar, JobMatcher>();

function matcherOf(sidecar: Sidecar): JobMatcher {
  const matcher = matchers.get(sidecar) ?? new JobMatcher(sidecar);
  matchers.set(sidecar, matcher);
  return matcher;
}

/** A request and, once it is known, its job. */
interface Pending {
  readonly method: string;
  readonly listener: JobListener;
  /** Lets the next request of the method be sent. */
  readonly release: () => void;
  job?: string;
}

/**
 * Matches jobs to the requests that began them. For each method only one request at a time is sent without a known
 * job, so that a new job of the method must belong to that request, in whatever order jobs begin and events arrive.
 */
class JobMatcher {
  /** Ids of all jobs of the current process that events or lists named. */
  private readonly known = new Set<string>();
  /** Requests without a job, by method. */
  private readonly expected = new Map<string, Pending>();
  /** Requests with a job, by its id. */
  private readonly matched = new Map<string, Pending>();
  /** Events of jobs that came before the event of type `job`: the sidecar keeps only the newest of the latter. */
  private readonly early = new Map<string, TrellisEvent[]>();
  /** By method, a promise that resolves when the last request of it has a job or an answer. */
  private readonly turns = new Map<string, Promise<void>>();

  constructor(private readonly sidecar: Sidecar) {
    sidecar.onEvent((event) => this.handleEvent(event));
    sidecar.onState((state) => {
      // The next process numbers its jobs anew.
      if (state !== 'running') this.known.clear();
    });
  }

  /** Resolves when the request may be sent. The listener receives events until the result is disposed of. */
  async expect(method: string, listener: JobListener): Promise<{ dispose(): void }> {
    const before = this.turns.get(method);
    let release = () => {};
    const turn = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.turns.set(method, turn);
    await before;
    const pending: Pending = { method, listener, release };
    this.expected.set(method, pending);
    return { dispose: () => this.end(pending) };
  }

  private handleEvent(event: TrellisEvent): void {
    if (event.type === 'missed') void this.list().then((jobs) => this.match(jobs));
    if (!('job' in event) || !event.job) return;
    if (event.type === 'job') this.match([event]);
    const pending = this.matched.get(event.job);
    if (pending !== undefined) pending.listener.onEvent?.(event);
    else if (this.expected.size > 0 && !this.known.has(event.job)) this.keepEarly(event.job, event);
  }

  private keepEarly(job: string, event: TrellisEvent): void {
    const events = this.early.get(job);
    if (events === undefined) this.early.set(job, [event]);
    else events.push(event);
  }

  /** Assigns new jobs to the requests that wait for one. */
  private match(jobs: readonly { readonly job: string; readonly method: string }[]): void {
    for (const { job, method } of jobs) {
      if (this.known.has(job)) continue;
      this.known.add(job);
      const early = this.early.get(job) ?? [];
      this.early.delete(job);
      const pending = this.expected.get(method);
      if (pending === undefined) continue;
      pending.job = job;
      this.removeExpected(method);
      this.matched.set(job, pending);
      pending.release();
      pending.listener.onBegin?.(job);
      for (const it of early) pending.listener.onEvent?.(it);
    }
  }

  private end(pending: Pending): void {
    if (pending.job !== undefined) this.matched.delete(pending.job);
    // A refused request has no job. After an answer without one, its events may still come, and must not be assigned
    // to the next request.
    else void this.forget(pending);
  }

  /** Removes a request without a job, and early events that no other request can need. */
  private removeExpected(method: string): void {
    this.expected.delete(method);
    if (this.expected.size === 0) this.early.clear();
  }

  private async forget(pending: Pending): Promise<void> {
    this.removeExpected(pending.method);
    this.match(await this.list());
    pending.release();
  }

  /** Lists the jobs of the sidecar; none if it does not answer, since its jobs have ended with it. */
  private async list(): Promise<readonly { readonly job: string; readonly method: string }[]> {
    try {
      return (await this.sidecar.request('trellis/jobs', {})).jobs;
    } catch {
      return [];
    }
  }
}
