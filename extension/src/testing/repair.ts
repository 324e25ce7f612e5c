// Repair of failing tests: starts the job, and reports its outcome. Proposals are decided in `approval/`.
import { join } from 'node:path';
import { commands, l10n, type TextDocument, Uri, window, workspace } from 'vscode';
import { folderFor } from '../generation/run_pickers';
import type { RepairResult } from '../protocol';
import { isBelow } from '../run/folders';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import * as notify from '../sidecar/notify';
import { repairMessage } from './repair_message';

/**
 * Repairs the failing tests of a folder: the named one, the current one, or the chosen one. Waits for the person's
 * decisions.
 */
export async function repair(sidecar: Sidecar, named?: string): Promise<void> {
  const file = window.activeTextEditor?.document.uri;
  const root = named ?? (await folderFor(file));
  if (root === undefined) return;
  if (!(await saveBelow(root))) return;
  const params = { root, ...(await requestSettings('trellis/repair', root)), wait: true };
  const result = await requestJob(sidecar, 'trellis/repair', params);
  if (result === undefined) return;
  await showTests(root, result);
  await reportOutcome(root, result);
}

/** Saves the unsaved files of a folder, which the tests would not see; returns whether all were saved. */
async function saveBelow(root: string): Promise<boolean> {
  const isOf = ({ uri }: TextDocument) => uri.scheme === 'file' && isBelow([root], uri.fsPath);
  const unsaved = workspace.textDocuments.filter((it) => it.isDirty && isOf(it));
  return (await Promise.all(unsaved.map((it) => it.save()))).every((it) => it);
}

/** Runs the repaired tests, so that the editor shows their outcomes. */
async function showTests(root: string, { groups }: RepairResult): Promise<void> {
  const paths = groups.flatMap((it) => it.tests);
  if (paths.length > 0) await commands.executeCommand('trellis.runTests', { root, paths });
}

async function reportOutcome(root: string, result: RepairResult): Promise<void> {
  const { text, isGood } = repairMessage(result, l10n.t);
  const show = l10n.t('Show Report');
  const actions = result.artifacts ? [show] : [];
  const notifier = isGood ? notify.info : notify.warn;
  if ((await notifier(text, ...actions)) !== show || !result.artifacts) return;
  await commands.executeCommand('markdown.showPreview', Uri.file(join(root, result.artifacts, 'report.md')));
}
