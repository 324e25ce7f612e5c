// One issue: started here, followed while it is made, its change shown, decided about, merged.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commands, l10n, Uri, window } from 'vscode';
import { means } from '../means/means';
import type { Decision, ImplementResult } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import { withoutLinks } from '../sidecar/link_free_text';
import * as notify from '../sidecar/notify';
import { type Issue, pickIssue } from './pick';
import { type Offer, told } from './words';

/** Makes an issue, whose specification may be named; ends where it is merged, left, or waits for later. */
export async function implement(sidecar: Sidecar, named?: Uri): Promise<void> {
  const issue = await pickIssue(named);
  if (issue === undefined) return;
  let decision: Decision | undefined;
  do {
    const result = await worked(sidecar, issue, decision);
    if (result === undefined) return;
    decision = await answered(issue, result);
  } while (decision !== undefined);
}

/** Runs until the change is merged or a person is needed. */
async function worked(
  sidecar: Sidecar,
  issue: Issue,
  decision: Decision | undefined,
): Promise<ImplementResult | undefined> {
  const set = await means('trellis/implement', issue.root);
  const given = { ...set, ...issue, ...(decision ? { decision } : {}) };
  return await requestJob(sidecar, 'trellis/implement', given);
}

/** Shows what there is, and asks what is to become of it; nothing where that is left for later. */
async function answered(issue: Issue, result: ImplementResult): Promise<Decision | undefined> {
  const { text, isGood, offers } = told(result, l10n.t);
  if (result.waits) await showChanges(issue, result);
  const labels = new Map(offers.map((it) => [label(it), it]));
  const tell = isGood ? notify.info : notify.warn;
  const chosen = labels.get((await tell(text, ...labels.keys())) ?? '');
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
      return await decided(chosen, result.tip ?? '');
  }
}

async function decided(answer: 'approve' | 'sendBack' | 'leave', tip: string): Promise<Decision | undefined> {
  if (answer !== 'sendBack') return { answer, tip };
  const words = await window.showInputBox({ title: l10n.t('What should change?') });
  return words === undefined ? undefined : { answer, tip, words };
}

function label(offer: Offer): string {
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

/** The files of the worktree, which can be edited there, beside those of the project. */
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
