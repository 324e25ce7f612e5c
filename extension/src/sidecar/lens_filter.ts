// Lenses and actions of the sidecar that a person sees.

export interface LensFilter {
  /** Decides whether the lens of a command is shown. */
  readonly lens: (command: string | undefined) => boolean;
  /** Decides whether an action that runs a command is shown. */
  readonly action: (command: string | undefined) => boolean;
}

/** Commands that execute code of the folder. */
const EXECUTING_COMMANDS: readonly (string | undefined)[] = [
  'trellis.generateTests',
  'trellis.runTests',
  'trellis.retryNode',
  'trellis.proposeFix',
  'trellis.repair',
];

/**
 * Makes the filter: no command executes code in a folder without trust, and lenses are shown only if they are enabled.
 */
export function lensFilter(isTrusted: () => boolean, wantsLenses: () => boolean): LensFilter {
  const showsAction = (command: string | undefined) => isTrusted() || !EXECUTING_COMMANDS.includes(command);
  return { action: showsAction, lens: (command) => wantsLenses() && showsAction(command) };
}
