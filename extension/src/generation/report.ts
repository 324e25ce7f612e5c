// Reports: at the end of a run, and on demand.
import { commands, l10n, Uri } from 'vscode';
import type { StatusResult } from '../protocol';
import { isRun, isTasks, type Job } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { offerResume } from './resume_offers';
import { type RunFinished, runFinished } from './run_finished';
import { pickRun } from './run_pickers';

/** Opens the report of the run in a folder as a preview. */
export async function showReport(sidecar: Sidecar, out: string | undefined): Promise<void> {
  const folder =
    out ?? (await pickRun(sidecar, (it) => it.kind === 'generate', l10n.t('Show the report for which run?')));
  if (folder === undefined) return;
  const { path } = await sidecar.request('trellis/report', { out: folder });
  await commands.executeCommand('markdown.showPreview', Uri.file(path));
}

/** Reports the outcome of a run, and offers the next action. */
export async function reportRunFinished(sidecar: Sidecar, job: Job): Promise<void> {
  // The command that builds a task list reports its own outcome.
  if (!isRun(job) || isTasks(job)) return;
  const out = job.out ?? (await folderOf(sidecar, job));
  const finished = runFinished(job, out === undefined ? undefined : await statusOf(sidecar, out), l10n.t);
  if (finished.isResumable && out !== undefined) {
    await offerResume(finished.text, out);
    return;
  }
  const actions = finished.hasReport ? [l10n.t('Show Report')] : [];
  const chosen = await NOTIFY[finished.severity](finished.text, ...actions);
  if (chosen !== undefined) await commands.executeCommand('trellis.showReport', out);
}

const NOTIFY: Record<RunFinished['severity'], notify.Notify> = {
  info: notify.info,
  warning: notify.warn,
  error: notify.error,
};

/** Reads the folder from the result, for a run that another part of the sidecar began. */
async function folderOf(sidecar: Sidecar, job: Job): Promise<string | undefined> {
  const { result } = await sidecar.request('trellis/job', { job: job.id });
  return typeof result?.repository === 'string' ? result.repository : undefined;
}

async function statusOf(sidecar: Sidecar, out: string): Promise<StatusResult | undefined> {
  try {
    return await sidecar.request('trellis/status', { out });
  } catch {
    // A run that failed before its first node has no status; the message has the reason.
    return undefined;
  }
}
