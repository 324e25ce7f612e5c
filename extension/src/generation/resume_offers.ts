// Offers to resume stopped runs, shown until any process resumes them.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { commands, Disposable, l10n, workspace } from 'vscode';
import type { Run } from '../protocol';
import type { JobStore } from '../run/job_store';
import { isOpen, isRun } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import { reportError } from '../sidecar/report_error';
import { showTransient } from '../sidecar/transient_notification';

/** Milliseconds between two checks whether another process resumed a run. */
const POLL_MS = 2000;

/** Offers to resume each stopped run, one after the other, at every start of the sidecar. */
export function offerResumesAtStart(sidecar: Sidecar, jobStore: JobStore): Disposable {
  return sidecar.onState((state) => {
    if (state !== 'running' || !workspace.isTrusted) return;
    if (!workspace.getConfiguration('trellis').get('offerResume', true)) return;
    offerAllResumes(sidecar, jobStore).catch((error) =>
      reportError(l10n.t('Could not look for stopped runs'), error),
    );
  });
}

/** Shows a text with an offer to resume a run, until the run is resumed or the sidecar ends. */
export async function offerResume(
  sidecar: Sidecar,
  jobStore: JobStore,
  out: string,
  text: string,
): Promise<void> {
  const resume = l10n.t('Resume');
  const listening: Disposable[] = [];
  const past = new Promise<void>((resolve) =>
    listening.push(...watchForResume(sidecar, jobStore, out, resolve)),
  );
  try {
    if (
      (await showTransient({ text, actions: [resume], cancellable: true, until: past, isBusy: false })) !==
      resume
    )
      return;
  } finally {
    Disposable.from(...listening).dispose();
  }
  await commands.executeCommand('trellis.resumeRun', out);
}

async function offerAllResumes(sidecar: Sidecar, jobStore: JobStore): Promise<void> {
  const { runs } = await sidecar.request('trellis/listRuns', {});
  // Task lists are resumed by the command that began them.
  for (const run of runs.filter((it) => it.state === 'stopped' && it.kind === 'generate')) {
    if (sidecar.state !== 'running') return;
    if (!isRunning(jobStore, run.out)) await offerResume(sidecar, jobStore, run.out, offerText(run));
  }
}

function offerText({ out, passed, total }: Run): string {
  const name = workspace.asRelativePath(out);
  return l10n.t('The run in {0} stopped after {1} of {2} nodes. Resume it?', name, passed, total);
}

/**
 * Calls `then` when the run is resumed, here or by another process, or when the sidecar ends; it makes new offers at
 * its start.
 */
function watchForResume(sidecar: Sidecar, jobStore: JobStore, out: string, then: () => void): Disposable[] {
  // Polled, since the editor's watchers exclude folders, and do not work on some disks.
  const journal = join(out, '.trellis', 'journal.jsonl');
  const look = async () => {
    if (!(await isStopped(sidecar, out))) then();
  };
  watchFile(journal, { interval: POLL_MS }, look);
  return [
    new Disposable(() => unwatchFile(journal, look)),
    jobStore.onChange(() => {
      if (isRunning(jobStore, out)) then();
    }),
    sidecar.onState(then),
  ];
}

function isRunning(jobStore: JobStore, out: string): boolean {
  return [...jobStore.jobs.values()].some((it) => it.out === out && isRun(it) && isOpen(it));
}

async function isStopped(sidecar: Sidecar, out: string): Promise<boolean> {
  try {
    const { runs } = await sidecar.request('trellis/listRuns', { root: out });
    return runs.some((it) => it.out === out && it.state === 'stopped');
  } catch {
    // The offer stays if the check fails; resuming then reports the reason.
    return true;
  }
}
