// A list of the files of a change: the checkboxes of the view need a mouse.
import { l10n, window } from 'vscode';
import type { LeftOut } from './left_out';
import { fileRow, type IssueReview } from './reviews';

/** Asks for the files that are merged; the others are left out. */
export async function chooseFiles(review: IssueReview, leftOut: LeftOut): Promise<void> {
  const { root, issue, files } = review;
  const items = files.map((it) => ({
    label: it.path,
    description: fileRow(it, false, l10n.t),
    picked: !leftOut.has({ root, issue, path: it.path }),
  }));
  const title = l10n.t('Merge which files?');
  const chosen = await window.showQuickPick(items, { title, canPickMany: true });
  if (chosen === undefined) return;
  const merged = new Set(chosen.map((it) => it.label));
  for (const { path } of files) await leftOut.set({ root, issue, path }, !merged.has(path));
}
