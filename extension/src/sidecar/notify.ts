// Notifications. All go through this file, which `test/unit/link_free_text.test.ts` checks.
import { type MessageOptions, window } from 'vscode';
import { withoutLinks } from './link_free_text';

export type Notify = (text: string, ...actions: string[]) => Thenable<string | undefined>;

export const info: Notify = (text, ...actions) =>
  window.showInformationMessage(withoutLinks(text), ...actions);
export const warn: Notify = (text, ...actions) => window.showWarningMessage(withoutLinks(text), ...actions);
export const error: Notify = (text, ...actions) => window.showErrorMessage(withoutLinks(text), ...actions);

/** Shows details in a modal dialog. */
export function details(text: string, detail: string): Thenable<string | undefined> {
  const options: MessageOptions = { modal: true, detail: withoutLinks(detail) };
  return window.showInformationMessage(withoutLinks(text), options);
}

/** Asks a question in a modal dialog. */
export function dialog(text: string, detail: string, ...actions: string[]): Thenable<string | undefined> {
  const options: MessageOptions = { modal: true, detail: withoutLinks(detail) };
  return window.showWarningMessage(withoutLinks(text), options, ...actions);
}
