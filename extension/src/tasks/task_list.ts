// Parts of a task list that are needed before the sidecar reads it.
import { kindOf } from '../generation/plan_kind';

export interface TaskList {
  /** Name of the tech stack. */
  readonly stack?: string;
}

/** Reads a task list; `undefined` for other texts. */
export function parseTaskList(text: string): TaskList | undefined {
  if (kindOf(text) !== 'tasks') return undefined;
  const list: object = JSON.parse(text);
  const stack = 'tech_stack' in list ? list.tech_stack : undefined;
  return typeof stack === 'string' ? { stack } : {};
}
