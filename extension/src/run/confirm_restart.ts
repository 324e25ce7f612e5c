// Confirmation of a restart of the sidecar, which stops running jobs.
import { l10n } from 'vscode';
import * as notify from '../sidecar/notify';
import type { JobStore } from './job_store';
import { isOpen } from './jobs';

/**
 * Asks whether the sidecar may restart now, if a job is running.
 * @param why sentence about the change that otherwise waits
 */
export async function confirmRestart(jobStore: JobStore, why: string): Promise<boolean> {
  if (![...jobStore.jobs.values()].some(isOpen)) return true;
  const restart = l10n.t('Restart Now');
  return (await notify.info(why, restart)) === restart;
}
