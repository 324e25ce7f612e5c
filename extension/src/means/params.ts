// Settings as parameters: what each method that asks a model or runs tests takes of them.
import type { Allowed, Choice } from '../protocol';
import { allowed } from './allowed';
import type { Own } from './read_setting';

/** Every parameter that is a setting. */
export interface Means {
  readonly model?: string;
  readonly simpleModel?: string;
  readonly strongModel?: string;
  readonly budgetUsd?: number;
  readonly budgetTokens?: number;
  readonly budgetMinutes?: number;
  readonly testTimeout?: number;
  readonly sandbox?: Choice;
  readonly allow?: Allowed;
  readonly interpreter?: string;
  readonly approve?: string;
  readonly jobs?: number;
  readonly testsDir?: string;
}

const MODELS = ['model', 'simpleModel', 'strongModel'] as const;
const BUDGET = ['budgetUsd', 'budgetTokens', 'budgetMinutes'] as const;
/** What no run keeps: a folder that is gone on with must not say what its tests may have. */
const NOT_KEPT = ['allow', 'interpreter'] as const;
const TESTS = ['testTimeout', 'sandbox', ...NOT_KEPT] as const;
const WORK = [...MODELS, ...BUDGET, ...TESTS] as const;
/** Going on with a run: with the options it was started with, but for budgets, which a person changes when one has stopped it. */
const RESUMED = [...BUDGET, ...NOT_KEPT] as const;

/** By method; `resume` is `trellis/generate` of a run that was started before. */
const TAKES = {
  'trellis/generate': [...WORK, 'approve', 'jobs'],
  resume: RESUMED,
  'trellis/retryNode': RESUMED,
  'trellis/tasks': [...WORK, 'jobs'],
  'trellis/repair': [...WORK, 'approve'],
  'trellis/implement': [...WORK, 'approve'],
  'trellis/generateTests': [...WORK, 'testsDir'],
  'trellis/proposeFix': WORK,
  'trellis/decideFix': TESTS,
  'trellis/runTests': TESTS,
  'trellis/environment': ['interpreter'],
} as const satisfies Record<string, readonly (keyof Means)[]>;

export type Method = keyof typeof TAKES;
export type MeansOf<M extends Method> = Pick<Means, (typeof TAKES)[M][number]>;

/** So many tasks at a time are the most that the sidecar takes. */
const MOST_TASKS = 16;

/**
 * What a method takes of the settings. Those that nobody set are left out, so that the sidecar's defaults and trellis.toml
 * hold.
 * @param interpreter that tests run with; none where the sidecar finds one
 */
export function paramsOf<M extends Method>(method: M, own: Own, interpreter: string | undefined): MeansOf<M> {
  const taken: readonly string[] = TAKES[method];
  const most = method === 'trellis/tasks' ? MOST_TASKS : undefined;
  const all = Object.entries(everything(own, interpreter, most));
  const given = all.filter(([name, value]) => value !== undefined && taken.includes(name));
  const means: Means = Object.fromEntries(given);
  return means;
}

/** @param mostJobs none where the sidecar takes any number */
function everything(own: Own, interpreter: string | undefined, mostJobs: number | undefined) {
  const jobs = amount(own('jobs'));
  const all: { [P in keyof Required<Means>]: Means[P] | undefined } = {
    model: text(own('model')),
    simpleModel: text(own('simpleModel')),
    strongModel: text(own('strongModel')),
    budgetUsd: amount(own('budget.usd')),
    budgetTokens: amount(own('budget.tokens')),
    budgetMinutes: amount(own('budget.minutes')),
    testTimeout: amount(own('testTimeout')),
    sandbox: sandbox(own('sandbox')),
    allow: allowed(own),
    interpreter,
    approve: text(own('approve')),
    jobs: jobs && mostJobs ? Math.min(jobs, mostJobs) : jobs,
    testsDir: text(own('testsFolder')),
  };
  return all;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function sandbox(value: unknown): Choice | undefined {
  return value === 'docker' || value === 'local' || value === 'auto' ? value : undefined;
}
