// How errors are said to a person: what happened, why, what to do.
import { commands, l10n } from 'vscode';
import { isCancelled, refusalOf, told, wayOut } from './refusal';
import * as say from './say';

/**
 * Says in a notification what went wrong; nothing where the person took it back.
 * @param doing what was tried, a whole phrase such as "The run was not started"
 */
export async function complain(doing: string, error: unknown): Promise<void> {
  const refusal = refusalOf(error);
  if (isCancelled(refusal)) return;
  const { title, command, given } = wayOut(refusal, l10n.t);
  const chosen = await say.error(`${doing}: ${told(refusal)}`, title);
  if (chosen === title) await commands.executeCommand(command, ...(given === undefined ? [] : [given]));
}

/** A command's work whose failure is said; what it gives is not used by anybody. */
export function guarded<A extends unknown[]>(
  doing: string,
  work: (...given: A) => Promise<unknown>,
): (...given: A) => Promise<void> {
  return async (...given) => {
    try {
      await work(...given);
    } catch (error) {
      await complain(doing, error);
    }
  };
}
