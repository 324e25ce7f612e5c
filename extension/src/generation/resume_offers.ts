// Offers to resume stopped runs.
import { commands, type Disposable, l10n, workspace } from 'vscode';
import type { Run } from '../protocol';
import type { JobStore } from '../run/job_store';
import { isOpen, isRun } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { resumeRun } from './generate';

/** Milliseconds between two looks at a run that its old process still holds. */
const PAUSE_MS = 1_000;
/** Number of such looks. */
const LOOKS = 30;

/**
 * Offers to resume stopped runs at every start of the sidecar. Those that a reload of the window ended go on, unless
 * the folder is not trusted, or the person wants no offers.
 */
export function offerResumesAtStart(
  sidecar: Sidecar,
  jobStore: JobStore,
  interrupted: readonly string[],
): Disposable {
  let ended = interrupted;
  const resume = guarded(l10n.t('Could not resume the run'), async (out: string) => {
    await resumeRun(sidecar, jobStore, out);
    const pause = l10n.t('Pause');
    const text = l10n.t('The run in {0} continues after the reload.', workspace.asRelativePath(out));
    if ((await notify.info(text, pause)) === pause) await commands.executeCommand('trellis.pauseJob');
  });
  const atStart = guarded(l10n.t('Could not look for stopped runs'), async () => {
    const stopped = await stoppedRuns(sidecar, jobStore, ended);
    const continued = ended;
    // A server that starts once more may have ended because of them.
    ended = [];
    const isOwn = ({ out }: Run) => continued.includes(out);
    for (const { out } of stopped.filter(isOwn)) void resume(out);
    await offerResumes(stopped.filter((it) => !isOwn(it)));
  });
  return sidecar.onState((state) => {
    if (state !== 'running') return;
    const isWanted = workspace.getConfiguration('trellis').get('offerResume', true);
    if (workspace.isTrusted && isWanted) void atStart();
    // Later the person may have other plans.
    else ended = [];
  });
}

/**
 * Shows a text with an offer to resume runs.
 * @param out folder of the run; none to choose one
 */
export async function offerResume(text: string, out?: string): Promise<void> {
  const resume = out === undefined ? l10n.t('Choose…') : l10n.t('Resume');
  if ((await notify.info(text, resume, l10n.t('Not Now'))) !== resume) return;
  await commands.executeCommand('trellis.resumeRun', ...(out === undefined ? [] : [out]));
}

/** Returns the stopped runs; waits for the old process of those that a reload has ended. */
async function stoppedRuns(
  sidecar: Sidecar,
  jobStore: JobStore,
  ended: readonly string[],
): Promise<readonly Run[]> {
  for (let look = 1; ; look += 1) {
    const { runs } = await sidecar.request('trellis/listRuns', {});
    // Task lists are resumed by the command that began them.
    const own = runs.filter((it) => it.kind === 'generate' && !isRunning(jobStore, it.out));
    const isHeld = own.some((it) => it.state === 'active' && ended.includes(it.out));
    if (!isHeld || look === LOOKS) return own.filter((it) => it.state === 'stopped');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function offerResumes(stopped: readonly Run[]): Promise<void> {
  const [first, ...more] = stopped;
  if (first === undefined) return;
  if (more.length === 0) await offerResume(offerText(first), first.out);
  else await offerResume(l10n.t('{0} runs stopped early. Resume one?', stopped.length));
}

function offerText({ out, passed, total }: Run): string {
  const name = workspace.asRelativePath(out);
  return l10n.t('The run in {0} stopped after {1} of {2} nodes. Resume it?', name, passed, total);
}

function isRunning(jobStore: JobStore, out: string): boolean {
  return [...jobStore.jobs.values()].some((it) => it.out === out && isRun(it) && isOpen(it));
}
