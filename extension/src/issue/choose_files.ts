// A list of the files of a change: the checkboxes of the view need a mouse.
import { l10n, window } from 'vscode';
import * as notify from '../sidecar/notify';
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
  const title = l10n.t('Include which files in the merge?');
  const chosen = await window.showQuickPick(items, { title, canPickMany: true });
  if (chosen === undefined) return;
  if (chosen.length === 0) {
    await notify.info(l10n.t('Nothing is changed: at least one file has to be merged.'));
    return;
  }
  const merged = new Set(chosen.map((it) => it.label));
  const paths = files.map((it) => it.path).filter((path) => !merged.has(path));
  await leftOut.replace({ root, issue }, paths);
}
