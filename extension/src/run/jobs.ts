// Jobs as a value, made of events and lists of the sidecar.
import type { JobInfo, JobState, Event as TrellisEvent } from '../protocol';
import type { Budget } from './cost';

export interface Job {
  readonly id: string;
  /** Method that began the job, without `trellis/`. */
  readonly method: string;
  /** Description for the person. */
  readonly title: string;
  readonly state: JobState;
  /** Last line of the log. */
  readonly line?: string;
  /** Counted steps; left out before the first step, and for jobs without countable steps. */
  readonly progress?: Progress;
  /** Reason of a failure. */
  readonly error?: string;
  readonly hint?: string;
  /** Folder of the run, once it is known. */
  readonly out?: string;
  /** Budget, if the job was requested from here. */
  readonly budget?: Budget;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Integer from 0 to 100. */
  readonly percent: number;
  /** Estimated seconds until the end. */
  readonly etaSeconds?: number;
}

/** Jobs by id, the newest last. */
export type Jobs = ReadonlyMap<string, Job>;

export const NO_JOBS: Jobs = new Map();

/** Methods whose jobs generate a repository, node by node or task by task. */
const RUN_METHODS: readonly string[] = ['generate', 'retryNode', 'tasks'];

/** Methods whose jobs may take hours. */
const LONG_METHODS: readonly string[] = [...RUN_METHODS, 'repair', 'implement'];

export function isRun(job: Job): boolean {
  return RUN_METHODS.includes(job.method);
}

/** Returns whether the job builds a project from a task list, which has neither report nor checkpoint. */
export function isTasks(job: Job): boolean {
  return job.method === 'tasks';
}

export function isOpen(job: Job): boolean {
  return job.state === 'running' || job.state === 'paused';
}

/** Returns the jobs after an event; the same value if the event does not concern them. */
export function applyEvent(jobs: Jobs, event: TrellisEvent): Jobs {
  switch (event.type) {
    case 'job':
      return put(jobs, { ...jobOrNew(jobs, event.job), ...jobOfEvent(event) });
    case 'progress':
      return put(jobs, { ...jobOrNew(jobs, event.job), progress: progressOf(event) });
    case 'log': {
      const job = event.job ? jobs.get(event.job) : undefined;
      return job === undefined || !isLong(job) ? jobs : put(jobs, { ...job, line: event.message.trim() });
    }
    case 'files': {
      const job = jobs.get(event.job);
      return job === undefined || job.out !== undefined ? jobs : put(jobs, { ...job, out: event.root });
    }
    default:
      return jobs;
  }
}

/** Returns the jobs of a list. Folder, budget and last line of known jobs are kept, since lists do not have them. */
export function fromList(jobs: Jobs, list: readonly JobInfo[]): Jobs {
  return new Map(list.map((it) => [it.job, jobOfShape(it, jobs.get(it.job))]));
}

/** Adds folder and budget to a job that was begun from here. */
export function withStarted(jobs: Jobs, id: string, out: string, budget?: Budget): Jobs {
  return put(jobs, { ...jobOrNew(jobs, id), out, ...(budget === undefined ? {} : { budget }) });
}

/** Returns the budget of the newest run in a folder. */
export function budgetFor(jobs: Jobs, out: string): Budget | undefined {
  return [...jobs.values()].findLast((it) => isRun(it) && it.out === out)?.budget;
}

/** Returns the newest open run, which a person most likely means. */
export function currentRun(jobs: Jobs): Job | undefined {
  return [...jobs.values()].filter((it) => isRun(it) && isOpen(it)).at(-1);
}

/** Returns the open jobs of hours: the current run first, then the newest. */
export function openLongJobs(jobs: Jobs): readonly Job[] {
  const run = currentRun(jobs);
  const others = [...jobs.values()].filter((it) => isLong(it) && isOpen(it) && it !== run).reverse();
  return run === undefined ? others : [run, ...others];
}

function isLong(job: Job): boolean {
  return LONG_METHODS.includes(job.method);
}

/** Counts the open jobs of about a minute. */
export function countOpenShortJobs(jobs: Jobs): number {
  return [...jobs.values()].filter((it) => !isLong(it) && isOpen(it)).length;
}

/** Maximal number of ended jobs that are kept: every test run is one. */
const MAX_ENDED = 100;

function put(jobs: Jobs, job: Job): Jobs {
  const all = new Map(jobs).set(job.id, job);
  // The newest end stays, since listeners of `onEnd` look it up.
  const endedJobs = [...all.values()].filter((it) => !isOpen(it) && it.id !== job.id);
  for (const { id } of endedJobs.slice(0, -MAX_ENDED)) all.delete(id);
  return all;
}

/** Returns a job; events of a job may come before the answer with its id. */
function jobOrNew(jobs: Jobs, id: string): Job {
  return jobs.get(id) ?? { id, method: '', title: '', state: 'running' };
}

function jobOfEvent(event: Extract<TrellisEvent, { type: 'job' }>): Job {
  const { job, method, title, state, error, hint } = event;
  return { id: job, method, title, state, ...errorFields(error, hint) };
}

function jobOfShape(shape: JobInfo, before: Job | undefined): Job {
  const { job, method, title, state, progress, error } = shape;
  const { out, budget, line } = before ?? {};
  return {
    id: job,
    method,
    title,
    state,
    ...errorFields(error?.message, error?.hint),
    ...(progress ? { progress: progressOf({ ...progress, percent: percentOf(progress) }) } : {}),
    ...(line === undefined ? {} : { line }),
    ...(out === undefined ? {} : { out }),
    ...(budget === undefined ? {} : { budget }),
  };
}

function errorFields(error: string | null | undefined, hint: string | null | undefined) {
  return { ...(error ? { error } : {}), ...(hint ? { hint } : {}) };
}

interface Counted {
  readonly done: number;
  readonly total: number;
  readonly percent: number;
  readonly etaSeconds?: number | null;
}

function progressOf({ done, total, percent, etaSeconds }: Counted): Progress {
  const eta = etaSeconds === null || etaSeconds === undefined ? {} : { etaSeconds };
  return { done, total, percent, ...eta };
}

function percentOf({ done, total }: { done: number; total: number }): number {
  return total === 0 ? 100 : Math.floor((done * 100) / total);
}
