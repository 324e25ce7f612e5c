// Error messages for the person: what happened, why, what to do.
import { commands, l10n } from 'vscode';
import { errorActionOf, errorText, isCancelled, toTrellisError } from './errors';
import * as notify from './notify';

/**
 * Reports an error in a notification, unless the person cancelled the work.
 * @param failure what failed, as a whole phrase such as "Could not start the run"
 * @returns whether the person took the reason away, so that the work may succeed now
 */
export async function reportError(failure: string, error: unknown): Promise<boolean> {
  const trellisError = toTrellisError(error);
  if (isCancelled(trellisError)) return false;
  const { title, command, argument } = errorActionOf(trellisError, l10n.t);
  const chosen = await notify.error(`${failure}: ${errorText(trellisError)}`, title);
  if (chosen !== title) return false;
  const given = argument === undefined ? [] : [argument];
  return (await commands.executeCommand(command, ...given)) === SOLVED;
}

/** Result of a command that took the reason of an error away, such as one that chose a model. */
export const SOLVED = 'trellis.solved';

/**
 * Wraps a command's work so that its errors are reported; the result is dropped. The work is done once more if the
 * person took the reason of an error away.
 */
export function guarded<A extends unknown[]>(
  failure: string,
  work: (...args: A) => Promise<unknown>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      if (await reportError(failure, error)) await guarded(failure, work)(...args);
    }
  };
}
