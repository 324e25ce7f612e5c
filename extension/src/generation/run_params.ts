// Parameters of runs: choices of the person, with settings for the rest.

import type { GenerateParams, TasksParams } from '../protocol';
import type { SettingsOf } from '../settings/settings_of_method';

/** Choices for a run. */
export interface GenerateChoice {
  /** Absolute. */
  readonly graph: string;
  /** Absolute. */
  readonly out: string;
  /** Model as `provider:name` or `recorded:FILE`; left out if settings, environment or trellis.toml decide. */
  readonly model?: string;
}

/** Choices for a task list. */
export interface TasksChoice {
  /** Task list, absolute. */
  readonly file: string;
  readonly stack: string;
  /** Absolute. */
  readonly out: string;
  readonly model?: string;
}

/** Makes the parameters of `trellis/generate`; choices override settings. */
export function generateParams(
  choice: GenerateChoice,
  settings: SettingsOf<'trellis/generate'>,
): GenerateParams {
  return { ...settings, ...choice };
}

/** Makes the parameters of `trellis/tasks`; choices override settings. */
export function tasksParams(choice: TasksChoice, settings: SettingsOf<'trellis/tasks'>): TasksParams {
  return { ...settings, ...choice };
}
