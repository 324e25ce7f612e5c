// What a run is ordered with: choices of the moment and settings, as parameters of `trellis/generate`.
import { allowed } from '../allowed';
import type { GenerateParams, TasksParams } from '../protocol';

/** What a person chose for this run. */
export interface Choice {
  /** Absolute. */
  readonly graph: string;
  /** Absolute. */
  readonly out: string;
  /** As `provider:name` or `recorded:FILE`; left out where environment and trellis.toml say it. */
  readonly model?: string;
}

/** What all work that asks a model takes. */
type Means = Pick<
  GenerateParams,
  | 'model'
  | 'simpleModel'
  | 'strongModel'
  | 'testTimeout'
  | 'budgetUsd'
  | 'budgetTokens'
  | 'budgetMinutes'
  | 'sandbox'
  | 'allow'
>;

/** Reads one setting below `trellis` that a person has set; `undefined` where it is as delivered. */
export type Own = (name: string) => unknown;

/**
 * Settings that nobody set are left out, so that the sidecar's defaults, trellis.toml and, where a run goes on, the
 * options it was started with hold.
 */
export function order(choice: Choice, own: Own): GenerateParams {
  const params: GenerateParams = { graph: choice.graph, out: choice.out };
  putMeans(params, choice.model, own);
  put(params, 'jobs', amount(own('jobs')));
  put(params, 'approve', text(own('approve')));
  return params;
}

/** What a person chose for a list of tasks. */
export interface TasksChoice {
  /** The list, absolute. */
  readonly file: string;
  readonly stack: string;
  /** Absolute. */
  readonly out: string;
  readonly model?: string;
}

/** So many tasks at a time are the most that the sidecar takes. */
const MOST_TASKS = 16;

/** As {@link order}, for `trellis/tasks`. */
export function tasksOrder({ file, stack, out, model }: TasksChoice, own: Own): TasksParams {
  const params: TasksParams = { file, stack, out };
  putMeans(params, model, own);
  const jobs = amount(own('jobs'));
  put(params, 'jobs', jobs && Math.min(jobs, MOST_TASKS));
  return params;
}

/**
 * Going on with a run: with the options it was started with, but for budgets, which are what a person changes when one
 * has stopped a run, and for what tests may have, which no run keeps.
 */
export function resumption(out: string, own: Own): GenerateParams {
  const params: GenerateParams = { out };
  putBudget(params, own);
  put(params, 'allow', allowed(own));
  return params;
}

/** Models, budget, sandbox, and how long a test may take. */
function putMeans(params: Means, model: string | undefined, own: Own): void {
  put(params, 'model', model ?? text(own('model')));
  put(params, 'simpleModel', text(own('simpleModel')));
  put(params, 'strongModel', text(own('strongModel')));
  put(params, 'testTimeout', amount(own('testTimeout')));
  putBudget(params, own);
  put(params, 'sandbox', sandbox(own('sandbox')));
  put(params, 'allow', allowed(own));
}

function putBudget(params: Means, own: Own): void {
  put(params, 'budgetUsd', amount(own('budget.usd')));
  put(params, 'budgetTokens', amount(own('budget.tokens')));
  put(params, 'budgetMinutes', amount(own('budget.minutes')));
}

/** What is null is not left out, and the sidecar takes it for a wrong value. */
function put<T extends object, K extends keyof T>(to: T, key: K, value: T[K] | undefined): void {
  if (value !== undefined) to[key] = value;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function sandbox(value: unknown): 'auto' | 'docker' | 'local' | undefined {
  return value === 'docker' || value === 'local' || value === 'auto' ? value : undefined;
}
