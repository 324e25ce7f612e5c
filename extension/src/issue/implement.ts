// Implementation of an issue: starts the job, and says how it ended. The list has what waits for the person.
import { join } from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import type { ImplementResult } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import * as notify from '../sidecar/notify';
import { issueMessage } from './issue_message';
import { pickIssue } from './issue_picker';

/** Implements an issue, whose spec may be given. Ends when the change is merged or waits for the person. */
export async function implementIssue(sidecar: Sidecar, named?: Uri): Promise<void> {
  const issue = await pickIssue(named);
  if (issue === undefined) return;
  const settings = await requestSettings('trellis/implement', issue.root);
  const result = await requestJob(sidecar, 'trellis/implement', { ...settings, ...issue });
  // The list announces what waits.
  await commands.executeCommand('trellis.refreshFixes');
  if (result !== undefined && !result.waits) await showIssueResult(issue.root, result);
}

/** Says how an issue ended. */
export async function showIssueResult(root: string, result: ImplementResult): Promise<void> {
  const { text, isGood } = issueMessage(result, l10n.t);
  const { reports, worktree, files } = result;
  const [report, open] = [l10n.t('Show Report'), l10n.t('Open Worktree')];
  const offered = [...(worktree && files.length > 0 ? [open] : []), ...(reports ? [report] : [])];
  const chosen = await (isGood ? notify.info : notify.warn)(text, ...offered);
  if (chosen === report && reports) await showReport(root, reports);
  if (chosen === open && worktree)
    await commands.executeCommand('vscode.openFolder', Uri.file(worktree), { forceNewWindow: true });
}

async function showReport(root: string, reports: string): Promise<void> {
  const report = Uri.file(join(root, reports, 'implementation-report.md'));
  await commands.executeCommand('markdown.showPreview', report);
}
