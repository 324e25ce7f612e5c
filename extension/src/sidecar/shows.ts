// Which of the sidecar's lenses and actions a person sees.

export interface Shows {
  /** Whether the lens of a command is shown. */
  readonly lens: (command: string | undefined) => boolean;
  /** Whether an action that runs a command is shown. */
  readonly action: (command: string | undefined) => boolean;
}

/** Commands that execute what lies in the folder. */
const EXECUTING: readonly (string | undefined)[] = [
  'trellis.generateTests',
  'trellis.runTests',
  'trellis.retryNode',
  'trellis.proposeFix',
  'trellis.repair',
];

/** Shows nothing that executes code in a folder that is not trusted, and lenses only where they are wanted. */
export function shows(isTrusted: () => boolean, wantsLenses: () => boolean): Shows {
  const action = (command: string | undefined) => isTrusted() || !EXECUTING.includes(command);
  return { action, lens: (command) => wantsLenses() && action(command) };
}
