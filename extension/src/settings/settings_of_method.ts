// Settings as parameters, by method.
import type { Allowed, Choice } from '../protocol';
import { allowedOf } from './allowed';
import type { ReadSetting } from './read_setting';

/** All parameters that are settings. */
export interface RequestSettings {
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
  readonly trials?: number;
}

const MODEL_SETTINGS = ['model', 'simpleModel', 'strongModel'] as const;
const BUDGET_SETTINGS = ['budgetUsd', 'budgetTokens', 'budgetMinutes'] as const;
/** Settings that no run saves: a resumed folder must not decide about permissions of its tests. */
const UNSAVED_SETTINGS = ['allow', 'interpreter'] as const;
const TEST_SETTINGS = ['testTimeout', 'sandbox', ...UNSAVED_SETTINGS] as const;
const LONG_JOB_SETTINGS = [...MODEL_SETTINGS, ...BUDGET_SETTINGS, ...TEST_SETTINGS] as const;
/**
 * Settings of a resumed run, which keeps the options it was started with, except the budget, since an exceeded budget
 * may have stopped it.
 */
const RESUME_SETTINGS = [...BUDGET_SETTINGS, ...UNSAVED_SETTINGS] as const;

/** Settings by method; `resume` is `trellis/generate` of an existing run. */
const SETTINGS_OF_METHOD = {
  'trellis/generate': [...LONG_JOB_SETTINGS, 'approve', 'jobs'],
  resume: RESUME_SETTINGS,
  'trellis/retryNode': RESUME_SETTINGS,
  'trellis/tasks': [...LONG_JOB_SETTINGS, 'jobs'],
  'trellis/repair': [...LONG_JOB_SETTINGS, 'approve', 'trials'],
  'trellis/implement': [...LONG_JOB_SETTINGS, 'approve'],
  'trellis/generateTests': [...LONG_JOB_SETTINGS, 'testsDir'],
  'trellis/proposeFix': [...LONG_JOB_SETTINGS, 'trials'],
  'trellis/decideFix': TEST_SETTINGS,
  'trellis/runTests': TEST_SETTINGS,
  'trellis/environment': ['interpreter'],
  'trellis/draftPlan': [...MODEL_SETTINGS, ...BUDGET_SETTINGS],
} as const satisfies Record<string, readonly (keyof RequestSettings)[]>;

export type MethodWithSettings = keyof typeof SETTINGS_OF_METHOD;
export type SettingsOf<M extends MethodWithSettings> = Pick<
  RequestSettings,
  (typeof SETTINGS_OF_METHOD)[M][number]
>;

/** Maximal number of parallel tasks that the sidecar accepts. */
const MAX_TASKS = 16;

/**
 * Returns the parameters of a method. Settings that nobody set are left out, so that defaults of the sidecar and
 * trellis.toml apply.
 * @param interpreter of the tests; none if the sidecar finds one
 */
export function settingsFor<M extends MethodWithSettings>(
  method: M,
  read: ReadSetting,
  interpreter: string | undefined,
): SettingsOf<M> {
  const taken: readonly string[] = SETTINGS_OF_METHOD[method];
  const most = method === 'trellis/tasks' ? MAX_TASKS : undefined;
  const all = Object.entries(allSettings(read, interpreter, most));
  const set = all.filter(([name, value]) => value !== undefined && taken.includes(name));
  const settings: RequestSettings = Object.fromEntries(set);
  return settings;
}

/**
 * Reads all settings.
 * @param mostJobs maximal number of jobs, if the sidecar limits it
 */
function allSettings(read: ReadSetting, interpreter: string | undefined, mostJobs: number | undefined) {
  const jobs = numberOf(read('jobs'));
  const all: { [P in keyof Required<RequestSettings>]: RequestSettings[P] | undefined } = {
    model: stringOf(read('model')),
    simpleModel: stringOf(read('simpleModel')),
    strongModel: stringOf(read('strongModel')),
    budgetUsd: numberOf(read('budget.usd')),
    budgetTokens: numberOf(read('budget.tokens')),
    budgetMinutes: numberOf(read('budget.minutes')),
    testTimeout: numberOf(read('testTimeout')),
    sandbox: sandboxOf(read('sandbox')),
    allow: allowedOf(read),
    interpreter,
    approve: stringOf(read('approve')),
    jobs: jobs && mostJobs ? Math.min(jobs, mostJobs) : jobs,
    testsDir: stringOf(read('testsFolder')),
    trials: numberOf(read('smallEdits')),
  };
  return all;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function sandboxOf(value: unknown): Choice | undefined {
  return value === 'docker' || value === 'local' || value === 'auto' ? value : undefined;
}
