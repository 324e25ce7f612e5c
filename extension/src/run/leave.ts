// Leave to start the sidecar anew, which stops what is under way.
import { l10n } from 'vscode';
import * as notify from '../sidecar/notify';
import type { Board } from './board';
import { isOpen } from './jobs';

/**
 * Whether it may be done now; asked only where something would be stopped.
 * @param why a sentence that says what is put off otherwise
 */
export async function mayRestart(board: Board, why: string): Promise<boolean> {
  if (![...board.jobs.values()].some(isOpen)) return true;
  const restart = l10n.t('Restart Now');
  return (await notify.info(why, restart)) === restart;
}
