// The status bar item that counts what waits for the person, and the command behind it.
import { commands, type Disposable, l10n, StatusBarAlignment, window } from 'vscode';
import { testsText } from '../issue/reviews';
import { guarded } from '../sidecar/report_error';
import { passText, previewTitle, type TestPreviews } from '../testing/test_previews';
import { pickItem, totalOf, waitingCount } from './messages';
import type { ProposalStore } from './proposal_store';
import { waiting } from './queue';

/** Shows the number of fixes and issues that wait; a click opens the only one, or asks. */
export function showWaitingItem(proposals: ProposalStore, previews: TestPreviews): Disposable[] {
  const item = window.createStatusBarItem('trellis.review', StatusBarAlignment.Left, 9);
  item.name = l10n.t('Trellis: Waits for You');
  item.command = 'trellis.review';
  const update = () => {
    const counts = {
      fixes: waiting(proposals.queue).length,
      issues: proposals.reviews.length,
      tests: previews.all.length,
    };
    const text = waitingCount(counts, l10n.t);
    item.text = `$(git-pull-request) ${text}`;
    item.accessibilityInformation = { label: text };
    if (totalOf(counts) === 0) item.hide();
    else item.show();
  };
  update();
  const review = guarded(l10n.t('Could not show what waits'), () => reviewWaiting(proposals, previews));
  return [
    item,
    proposals.onChange(update),
    previews.onChange(update),
    commands.registerCommand('trellis.review', review),
  ];
}

async function reviewWaiting(proposals: ProposalStore, previews: TestPreviews): Promise<void> {
  if (proposals.reviews.length + previews.all.length === 0)
    return await commands.executeCommand('trellis.reviewFix');
  const fixes = waiting(proposals.queue).map((it) => ({
    ...pickItem(it, l10n.t),
    command: 'trellis.reviewFix',
    argument: { root: it.root, fix: it.fix },
  }));
  const issues = proposals.reviews.map((it) => ({
    label: it.title,
    description: testsText(it.allTests, l10n.t),
    command: 'trellis.reviewIssue',
    argument: { root: it.root, issue: it.issue },
  }));
  const tests = previews.all.map((it) => ({
    label: previewTitle(it, l10n.t),
    description: passText(it, l10n.t),
    command: 'trellis.reviewTests',
    argument: { root: it.root, function: it.function },
  }));
  const all = [...fixes, ...issues, ...tests];
  const title = l10n.t('Review what?');
  const chosen = all.length === 1 ? all[0] : await window.showQuickPick(all, { title });
  if (chosen !== undefined) await commands.executeCommand(chosen.command, chosen.argument);
}
