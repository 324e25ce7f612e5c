// What jobs there are and how they stand: a value, made of what the sidecar says.
import type { JobShape, JobState, Event as TrellisEvent } from '../protocol';
import type { Budget } from './cost';

export interface Job {
  readonly id: string;
  /** The method that began it, without `trellis/`. */
  readonly method: string;
  /** What it is about, for a person. */
  readonly title: string;
  readonly state: JobState;
  /** The last line that says what it does. */
  readonly line?: string;
  /** Steps; none where the work has no steps to count, or before the first. */
  readonly progress?: Progress;
  /** Why it failed, and what to do. */
  readonly error?: string;
  readonly hint?: string;
  /** The folder of a run, once it is known. */
  readonly out?: string;
  /** What it was ordered with, where that was here. */
  readonly budget?: Budget;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Whole, 0 to 100. */
  readonly percent: number;
  /** Until the end. */
  readonly etaSeconds?: number;
}

/** By id, the newest last. */
export type Jobs = ReadonlyMap<string, Job>;

export const NO_JOBS: Jobs = new Map();

/** Methods whose jobs grow a repository, node by node or task by task. */
const GROWING: readonly string[] = ['generate', 'retryNode', 'tasks'];

/** Methods whose jobs may take hours. */
const LONG: readonly string[] = [...GROWING, 'repair', 'implement'];

export function isGrowing(job: Job): boolean {
  return GROWING.includes(job.method);
}

/** Whether it makes a list of tasks, which has neither report nor checkpoint. */
export function isOfTasks(job: Job): boolean {
  return job.method === 'tasks';
}

export function isOpen(job: Job): boolean {
  return job.state === 'running' || job.state === 'paused';
}

/** The jobs after an event; the same value where the event says nothing of them. */
export function afterEvent(jobs: Jobs, event: TrellisEvent): Jobs {
  switch (event.type) {
    case 'job':
      return put(jobs, { ...known(jobs, event.job), ...ofEvent(event) });
    case 'progress':
      return put(jobs, { ...known(jobs, event.job), progress: progressOf(event) });
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

/** The jobs of a sidecar that was asked for all of them; what only we know of one is kept. */
export function ofList(jobs: Jobs, list: readonly JobShape[]): Jobs {
  return new Map(list.map((it) => [it.job, ofShape(it, jobs.get(it.job))]));
}

/** We began this one, and know its folder. */
export function begun(jobs: Jobs, id: string, out: string, budget?: Budget): Jobs {
  return put(jobs, { ...known(jobs, id), out, ...(budget === undefined ? {} : { budget }) });
}

/** What the newest work on a folder may cost. */
export function budgetFor(jobs: Jobs, out: string): Budget | undefined {
  return [...jobs.values()].findLast((it) => isGrowing(it) && it.out === out)?.budget;
}

/** The run that a person most likely means: the newest one that is open. */
export function current(jobs: Jobs): Job | undefined {
  return [...jobs.values()].filter((it) => isGrowing(it) && isOpen(it)).at(-1);
}

/** Work of hours that is under way: the run that is most likely meant comes first, then what was begun last. */
export function underWay(jobs: Jobs): readonly Job[] {
  const run = current(jobs);
  const others = [...jobs.values()].filter((it) => isLong(it) && isOpen(it) && it !== run).reverse();
  return run === undefined ? others : [run, ...others];
}

function isLong(job: Job): boolean {
  return LONG.includes(job.method);
}

/** How many jobs are under way that take a minute or so. */
export function besides(jobs: Jobs): number {
  return [...jobs.values()].filter((it) => !isLong(it) && isOpen(it)).length;
}

/** So many jobs that have ended are remembered: every run of a test is one. */
const REMEMBERED = 100;

function put(jobs: Jobs, job: Job): Jobs {
  const all = new Map(jobs).set(job.id, job);
  // Whoever tells of an end looks for it here.
  const ended = [...all.values()].filter((it) => !isOpen(it) && it.id !== job.id);
  for (const { id } of ended.slice(0, -REMEMBERED)) all.delete(id);
  return all;
}

/** Events of a job may come before whoever began it hears of its id. */
function known(jobs: Jobs, id: string): Job {
  return jobs.get(id) ?? { id, method: '', title: '', state: 'running' };
}

function ofEvent(event: Extract<TrellisEvent, { type: 'job' }>): Job {
  const { job, method, title, state, error, hint } = event;
  return { id: job, method, title, state, ...words(error, hint) };
}

function ofShape(shape: JobShape, before: Job | undefined): Job {
  const { job, method, title, state, progress, error } = shape;
  const { out, budget, line } = before ?? {};
  return {
    id: job,
    method,
    title,
    state,
    ...words(error?.message, error?.hint),
    ...(progress ? { progress: progressOf({ ...progress, percent: percentOf(progress) }) } : {}),
    ...(line === undefined ? {} : { line }),
    ...(out === undefined ? {} : { out }),
    ...(budget === undefined ? {} : { budget }),
  };
}

function words(error: string | null | undefined, hint: string | null | undefined) {
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
