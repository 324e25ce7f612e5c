// Notifications that disappear by themselves. The editor can withdraw only notifications of progress, which have no
// buttons: actions are links in their text.
import { commands, type Disposable, ProgressLocation, window } from 'vscode';
import { textBeforeLink } from './link_free_text';

export interface TransientNotification {
  readonly text: string;
  /** Titles of the actions. */
  readonly actions: readonly string[];
  /** Whether the person can close it. If not, the editor shows only its first line: keep the text short. */
  readonly cancellable: boolean;
  /** Resolves when the notification is to disappear; must not reject. */
  readonly until: Promise<unknown>;
  /** Whether work is under way in the meantime. */
  readonly isBusy: boolean;
}

/** Command behind the links; it is not in the command palette. */
const COMMAND = 'trellis.answer';

const open = new Map<number, (answer: number) => void>();
let last = 0;

/** Registers the command behind the links; called once, before the first notification. */
export function registerActionLinks(): Disposable {
  return commands.registerCommand(COMMAND, (id: number, answer: number) => open.get(id)?.(answer));
}

/**
 * Shows a notification until an action is chosen, it is closed, or `until` resolves.
 * @returns the title of the chosen action, if any
 */
export async function showTransient(notification: TransientNotification): Promise<string | undefined> {
  const { text, actions, cancellable, until, isBusy } = notification;
  last += 1;
  const id = last;
  const answered = new Promise<number>((resolve) => open.set(id, resolve));
  const options = {
    location: ProgressLocation.Notification,
    title: [textBeforeLink(text), ...links(id, actions)].join(' '),
    cancellable,
  };
  const chosen = await window.withProgress(options, (progress, token) => {
    // The progress bar stands still.
    if (!isBusy) progress.report({ increment: 0 });
    const cancelled = new Promise((resolve) => token.onCancellationRequested(resolve));
    return Promise.race([answered, Promise.race([until, cancelled]).then(() => undefined)]);
  });
  open.delete(id);
  return chosen === undefined ? undefined : actions[chosen];
}

function links(id: number, actions: readonly string[]): string[] {
  return actions.map((it, at) => {
    const argument = encodeURIComponent(JSON.stringify([id, at]));
    return `[${it}](command:${COMMAND}?${argument})`;
  });
}
