// The one door for notifications; `test/unit/plain.test.ts` holds that there is no other.
import { type MessageOptions, window } from 'vscode';
import { plain } from './plain';

export type Say = (text: string, ...actions: string[]) => Thenable<string | undefined>;

export const info: Say = (text, ...actions) => window.showInformationMessage(plain(text), ...actions);
export const warn: Say = (text, ...actions) => window.showWarningMessage(plain(text), ...actions);
export const error: Say = (text, ...actions) => window.showErrorMessage(plain(text), ...actions);

/** A dialog with more about it. */
export function dialog(text: string, detail: string, ...actions: string[]): Thenable<string | undefined> {
  const options: MessageOptions = { modal: true, detail: plain(detail) };
  return window.showWarningMessage(plain(text), options, ...actions);
}
