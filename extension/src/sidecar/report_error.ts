// Error messages for the person: what happened, why, what to do.
import { commands, l10n } from 'vscode';
import { errorActionOf, errorText, isCancelled, toTrellisError } from './errors';
import * as notify from './notify';

/**
 * Reports an error in a notification, unless the person cancelled the work.
 * @param failure what failed, as a whole phrase such as "Could not start the run"
 */
export async function reportError(failure: string, error: unknown): Promise<void> {
  const trellisError = toTrellisError(error);
  if (isCancelled(trellisError)) return;
  const { title, command, argument } = errorActionOf(trellisError, l10n.t);
  const chosen = await notify.error(`${failure}: ${errorText(trellisError)}`, title);
  if (chosen === title) await commands.executeCommand(command, ...(argument === undefined ? [] : [argument]));
}

/** Wraps a command's work so that its errors are reported; the result is dropped. */
export function guarded<A extends unknown[]>(
  failure: string,
  work: (...args: A) => Promise<unknown>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      await reportError(failure, error);
    }
  };
}
