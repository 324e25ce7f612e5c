// The status bar item that counts what waits for the person.
import { type Disposable, l10n, StatusBarAlignment, window } from 'vscode';
import type { ProposalStore } from './proposal_store';
import { waiting } from './queue';

/** Shows the number of proposals that wait; a click opens the first. */
export function showWaitingItem(proposals: ProposalStore): Disposable[] {
  const item = window.createStatusBarItem('trellis.review', StatusBarAlignment.Left, 9);
  item.name = l10n.t('Trellis: Fixes to Review');
  item.command = 'trellis.reviewFix';
  const update = () => {
    const count = waiting(proposals.queue).length;
    const text = count === 1 ? l10n.t('1 fix to review') : l10n.t('{0} fixes to review', count);
    item.text = `$(git-pull-request) ${text}`;
    item.accessibilityInformation = { label: text };
    if (count === 0) item.hide();
    else item.show();
  };
  update();
  return [item, proposals.onChange(update)];
}
