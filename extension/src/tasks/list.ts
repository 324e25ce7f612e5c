// What a list of tasks says of itself, as far as it has to be known before the sidecar reads it.

export interface TaskList {
  /** The stack that it names. */
  readonly stack?: string;
}

/** Nothing where the text is no list of tasks. */
export function taskList(text: string): TaskList | undefined {
  const { tasks, tech_stack: stack } = { tasks: undefined, tech_stack: undefined, ...parsed(text) };
  if (!Array.isArray(tasks)) return undefined;
  return typeof stack === 'string' ? { stack } : {};
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // What is wrong with a file that was chosen, the sidecar says with line and column.
    return {};
  }
}
