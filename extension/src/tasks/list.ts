// What a list of tasks says of itself, as far as it has to be known before the sidecar reads it.
import { kindOf } from '../generation/plan_kind';

export interface TaskList {
  /** The stack that it names. */
  readonly stack?: string;
}

/** Nothing where the text is no list of tasks. */
export function taskList(text: string): TaskList | undefined {
  if (kindOf(text) !== 'tasks') return undefined;
  const list: object = JSON.parse(text);
  const stack = 'tech_stack' in list ? list.tech_stack : undefined;
  return typeof stack === 'string' ? { stack } : {};
}
