// Lenses and actions of the sidecar that a person sees.
import type { CodeLens } from 'vscode';
import { lensesOf, testsOf } from './lenses';

/** Settings of lenses, and the trust in the folder. */
export interface LensSettings {
  readonly isTrusted: boolean;
  readonly generateTests: boolean;
  readonly results: boolean;
  /** Whether tests have lenses as well. */
  readonly tests: boolean;
}

/** Commands that execute code of the folder. */
const EXECUTING_COMMANDS: readonly (string | undefined)[] = [
  'trellis.generateTests',
  'trellis.runTests',
  'trellis.retryNode',
  'trellis.proposeFix',
  'trellis.repair',
];

/** Returns whether an action that runs a command is shown: none executes code in a folder without trust. */
export function showsAction(command: string | undefined, { isTrusted }: LensSettings): boolean {
  return isTrusted || !EXECUTING_COMMANDS.includes(command);
}

/**
 * Returns the lenses that are shown in a document.
 * @param path of the document, absolute, with `/`
 */
export function shownLenses(
  path: string,
  lenses: readonly CodeLens[],
  settings: LensSettings,
): readonly CodeLens[] {
  const tests = new Set(testsOf(path, lensesOf(lenses)).map((it) => it.line));
  return lenses.filter(({ command, range }) => {
    if (!showsAction(command?.command, settings)) return false;
    if (command?.command === 'trellis.generateTests') return settings.generateTests;
    return tests.has(range.start.line) ? settings.tests : settings.results;
  });
}
