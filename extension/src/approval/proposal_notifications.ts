// Notifications about proposals, which disappear when their proposal is decided.
import { commands } from 'vscode';
import { showTransient } from '../sidecar/transient_notification';
import type { MessageAction } from './messages';
import { type ProposalRef, proposalKey } from './proposal_uri';

/** Key of the notification about new proposals. */
const NEW_PROPOSALS = '';

export class ProposalNotifications {
  private readonly open = new Map<string, () => void>();

  /** Shows a notification about a proposal, in place of an earlier one. */
  show(ref: ProposalRef, text: string, action?: MessageAction): void {
    void this.showKeyed(proposalKey(ref), text, ref, action);
  }

  /** Shows a notification about new proposals; its action is about the first. */
  showNew(first: ProposalRef, text: string, action: MessageAction): void {
    void this.showKeyed(NEW_PROPOSALS, text, first, action);
  }

  withdraw(ref: ProposalRef): void {
    this.close(proposalKey(ref));
  }

  withdrawNew(): void {
    this.close(NEW_PROPOSALS);
  }

  dispose(): void {
    for (const key of [...this.open.keys()]) this.close(key);
  }

  private async showKeyed(
    key: string,
    text: string,
    { root, fix }: ProposalRef,
    action: MessageAction | undefined,
  ): Promise<void> {
    this.close(key);
    const until = new Promise<void>((resolve) => this.open.set(key, resolve));
    const actions = action === undefined ? [] : [action.title];
    const notification = { text, actions, cancellable: action !== undefined, until, isBusy: false };
    const chosen = await showTransient(notification);
    if (action !== undefined && chosen !== undefined)
      await commands.executeCommand(action.command, { root, fix });
  }

  private close(key: string): void {
    this.open.get(key)?.();
    this.open.delete(key);
  }
}
