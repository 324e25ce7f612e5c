// Notifications about proposals. The view and the status bar show what waits as well, so that a notification may be
// closed at any time.
import { commands, l10n } from 'vscode';
import { KeyedNotifications } from '../sidecar/keyed_notifications';
import type { MessageAction } from './messages';
import { isSameProposal, type ProposalRef } from './proposal_uri';

export class ProposalNotifications {
  private readonly notifications = new KeyedNotifications();
  /** The last message: its proposal, and whether nothing was left to decide then. */
  private last: { readonly ref: ProposalRef; readonly isSettled: boolean } | undefined;

  /** Shows a message about a proposal, in place of the last one. */
  async show(ref: ProposalRef, text: string, action?: MessageAction, isSettled = false): Promise<void> {
    this.last = { ref, isSettled };
    const actions = action === undefined ? [] : [action.title];
    const chosen = await this.notifications.show('message', text, ...actions);
    if (chosen !== undefined) await runAction(ref, action);
  }

  /** Shows a notification about new proposals; its action is about the first. */
  async showNew(first: ProposalRef, text: string, action: MessageAction): Promise<void> {
    const chosen = await this.notifications.show('new', text, action.title, l10n.t('Later'));
    if (chosen === action.title) await runAction(first, action);
  }

  /** Hides the message about a proposal; its action does nothing any more. */
  async withdraw(ref: ProposalRef): Promise<void> {
    if (this.last === undefined || !isSameProposal(this.last.ref, ref)) return;
    this.last = undefined;
    await this.notifications.withdraw('message');
  }

  /** Hides the message about a proposal that has been decided since. */
  async decided(ref: ProposalRef): Promise<void> {
    if (!this.last?.isSettled) await this.withdraw(ref);
  }

  async withdrawNew(): Promise<void> {
    await this.notifications.withdraw('new');
  }
}

async function runAction({ root, fix }: ProposalRef, action: MessageAction | undefined): Promise<void> {
  if (action !== undefined) await commands.executeCommand(action.command, { root, fix });
}
