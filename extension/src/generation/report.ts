// Reports: at the end of a run, and when they are asked for.
import { commands, l10n, Uri } from 'vscode';
import type { StatusResult } from '../protocol';
import type { Board } from '../run/board';
import { isGrowing, isOfTasks, type Job } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { type Ending, ending } from './ending';
import { offer } from './offers';
import { pickRun } from './pick';

/** Shows the report of the run in a folder, as a page. */
export async function showReport(sidecar: Sidecar, out: string | undefined): Promise<void> {
  const folder =
    out ?? (await pickRun(sidecar, (it) => it.kind === 'generate', l10n.t('Show the report for which run?')));
  if (folder === undefined) return;
  const { path } = await sidecar.request('trellis/report', { out: folder });
  await commands.executeCommand('markdown.showPreview', Uri.file(path));
}

/** Says how a run ended, and offers what comes next. */
export async function sayEnd(sidecar: Sidecar, board: Board, job: Job): Promise<void> {
  // Who began a list of tasks says how it ended.
  if (!isGrowing(job) || isOfTasks(job)) return;
  const out = job.out ?? (await folderOf(sidecar, job));
  const said = ending(job, out === undefined ? undefined : await statusOf(sidecar, out), l10n.t);
  if (said.resumable && out !== undefined) {
    await offer(sidecar, board, out, said.text);
    return;
  }
  const actions = said.report ? [l10n.t('Show Report')] : [];
  const chosen = await SAY[said.look](said.text, ...actions);
  if (chosen !== undefined) await commands.executeCommand('trellis.showReport', out);
}

const SAY: Record<Ending['look'], notify.Notify> = {
  info: notify.info,
  warning: notify.warn,
  error: notify.error,
};

/** A run that the sidecar itself offered to resume tells its folder in its result. */
async function folderOf(sidecar: Sidecar, job: Job): Promise<string | undefined> {
  const { result } = await sidecar.request('trellis/job', { job: job.id });
  return typeof result?.repository === 'string' ? result.repository : undefined;
}

async function statusOf(sidecar: Sidecar, out: string): Promise<StatusResult | undefined> {
  try {
    return await sidecar.request('trellis/status', { out });
  } catch {
    // A run that failed before its first node has none; the words say why it failed.
    return undefined;
  }
}
