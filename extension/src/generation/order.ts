// What a run is ordered with: choices of the moment, with the settings beside them.
import type { MeansOf } from '../means/params';
import type { GenerateParams, TasksParams } from '../protocol';

/** What a person chose for this run. */
export interface Choice {
  /** Absolute. */
  readonly graph: string;
  /** Absolute. */
  readonly out: string;
  /** As `provider:name` or `recorded:FILE`; left out where settings, environment and trellis.toml say it. */
  readonly model?: string;
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

/** A choice wins over the settings. */
export function order(choice: Choice, means: MeansOf<'trellis/generate'>): GenerateParams {
  return { ...means, ...choice };
}

/** As {@link order}, for `trellis/tasks`. */
export function tasksOrder(choice: TasksChoice, means: MeansOf<'trellis/tasks'>): TasksParams {
  return { ...means, ...choice };
}
