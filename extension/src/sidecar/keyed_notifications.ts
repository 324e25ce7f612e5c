// Notifications that lose their meaning when their subject changes: each subject has one, which can be withdrawn.
import { commands } from 'vscode';
import * as notify from './notify';

export class KeyedNotifications {
  /** The open notifications, each with a mark of its own. */
  private readonly open = new Map<string, symbol>();

  /**
   * Shows a notification in place of an earlier one with the same key.
   * @returns the chosen action; `undefined` for none, and after the notification was withdrawn
   */
  async show(key: string, text: string, ...actions: string[]): Promise<string | undefined> {
    await this.withdraw(key);
    const mark = Symbol(key);
    if (actions.length > 0) this.open.set(key, mark);
    const chosen = await notify.info(text, ...actions);
    // A withdrawn notification stays in the editor's list.
    return this.open.get(key) === mark && this.open.delete(key) ? chosen : undefined;
  }

  /** Hides notifications, if that of the key is open: the editor cannot hide a single one. */
  async withdraw(key: string): Promise<void> {
    if (this.open.delete(key)) await commands.executeCommand('notifications.hideToasts');
  }
}
