// Implementation of an issue: starts the job, shows the change, and asks for the decision.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commands, l10n, Uri, window } from 'vscode';
import type { Decision, ImplementResult } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import { withoutLinks } from '../sidecar/link_free_text';
import * as notify from '../sidecar/notify';
import { type IssueAction, issueMessage } from './issue_message';
import { type Issue, pickIssue } from './issue_picker';

/**
 * Implements an issue, whose spec may be given. Ends when the change is merged, kept on its branch, or left for later.
 */
export async function implementIssue(sidecar: Sidecar, named?: Uri): Promise<void> {
  const issue = await pickIssue(named);
  if (issue === undefined) return;
  let decision: Decision | undefined;
  do {
    const result = await requestImplement(sidecar, issue, decision);
    if (result === undefined) return;
    decision = await showResult(issue, result);
  } while (decision !== undefined);
}

/** Runs the job until the change is merged or needs a decision. */
async function requestImplement(
  sidecar: Sidecar,
  issue: Issue,
  decision: Decision | undefined,
): Promise<ImplementResult | undefined> {
  const settings = await requestSettings('trellis/implement', issue.root);
  const params = { ...settings, ...issue, ...(decision ? { decision } : {}) };
  return await requestJob(sidecar, 'trellis/implement', params);
}

/** Shows the result, and asks for a decision; `undefined` if the person leaves it for later. */
async function showResult(issue: Issue, result: ImplementResult): Promise<Decision | undefined> {
  const { text, isGood, actions: offers } = issueMessage(result, l10n.t);
  if (result.waits) await showChanges(issue, result);
  const labels = new Map(offers.map((it) => [labelOf(it), it]));
  const notifier = isGood ? notify.info : notify.warn;
  const chosen = labels.get((await notifier(text, ...labels.keys())) ?? '');
  switch (chosen) {
    case 'changes':
      await showChanges(issue, result);
      return undefined;
    case 'report':
      await showReport(issue, result);
      return undefined;
    case undefined:
      return undefined;
    default:
      return await decisionOf(chosen, result.tip ?? '');
  }
}

async function decisionOf(
  answer: 'approve' | 'sendBack' | 'leave',
  tip: string,
): Promise<Decision | undefined> {
  if (answer !== 'sendBack') return { answer, tip };
  const words = await window.showInputBox({ title: l10n.t('What should change?') });
  return words === undefined ? undefined : { answer, tip, words };
}

function labelOf(offer: IssueAction): string {
  switch (offer) {
    case 'approve':
      return l10n.t('Merge');
    case 'sendBack':
      return l10n.t('Request Changes…');
    case 'leave':
      return l10n.t('Keep on Branch');
    case 'changes':
      return l10n.t('Show Changes');
    case 'report':
      return l10n.t('Show Report');
  }
}

/** Shows the files of the worktree, where they can be edited, beside those of the project. */
async function showChanges({ root }: Issue, { issue, worktree, files }: ImplementResult): Promise<void> {
  if (!worktree) return;
  const pairs = files.map((path) => {
    const [before, after] = [join(root, path), Uri.file(join(worktree, path))];
    return [after, existsSync(before) ? Uri.file(before) : undefined, after];
  });
  await commands.executeCommand('vscode.changes', withoutLinks(l10n.t('Issue {0}', issue)), pairs);
}

async function showReport({ root }: Issue, { reports }: ImplementResult): Promise<void> {
  if (!reports) return;
  const report = Uri.file(join(root, reports, 'implementation-report.md'));
  await commands.executeCommand('markdown.showPreview', report);
}
