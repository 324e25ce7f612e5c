// Notifications about proposals. The view and the status bar show what waits as well, so that nothing is lost with a
// notification, and an old one may be answered late: the sidecar says what is still possible.
import { commands } from 'vscode';
import * as notify from '../sidecar/notify';
import type { MessageAction } from './messages';
import type { ProposalRef } from './proposal_uri';

/**
 * Shows a message about a proposal, with an action for it.
 * @param more titles of answers without an action
 */
export async function showAbout(
  { root, fix }: ProposalRef,
  text: string,
  action?: MessageAction,
  ...more: string[]
): Promise<void> {
  const chosen = await notify.info(text, ...(action === undefined ? [] : [action.title]), ...more);
  if (action !== undefined && chosen === action.title)
    await commands.executeCommand(action.command, { root, fix });
}
