// Tabs of changes: one file, or all files of an issue.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  commands,
  Disposable,
  l10n,
  type Tab,
  TabInputText,
  TabInputTextDiff,
  Uri,
  window,
  workspace,
} from 'vscode';
import { withoutLinks } from '../sidecar/link_free_text';
import { fields } from '../unknown_value';
import { issueUri, type ReviewFiles } from './review_files';
import { issueTextOf } from './review_uri';
import { type IssueFile, type IssueRef, type IssueReview, isSameIssue } from './reviews';

export class ReviewTabs {
  private readonly listening: Disposable;

  /** @param reviews returns the changes that wait */
  constructor(
    private readonly files: ReviewFiles,
    private readonly reviews: () => readonly IssueReview[],
  ) {
    const update = () => this.updateContext();
    this.listening = Disposable.from(
      window.tabGroups.onDidChangeTabs(update),
      window.tabGroups.onDidChangeTabGroups(update),
    );
  }

  dispose(): void {
    this.listening.dispose();
  }

  /** The issue in the active tab. */
  get active(): IssueRef | undefined {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    return tab && issueOf(tab, this.reviews());
  }

  /** Shows all files of a change. */
  async showAll(review: IssueReview): Promise<void> {
    const rows = await Promise.all(
      review.files.map(async ({ path }) => {
        const [base, work] = sides({ ...review, path });
        const isOld = (await this.files.baseText({ ...review, path, side: 'base' })) !== undefined;
        const isThere = existsSync(join(review.worktree, path));
        return [work, isOld ? base : undefined, isThere ? work : undefined];
      }),
    );
    await commands.executeCommand('vscode.changes', withoutLinks(review.title), rows);
  }

  /** Shows one file of a change. */
  async showFile(file: IssueFile): Promise<void> {
    const [base, work] = sides(file);
    const title = l10n.t('{0} (Issue {1})', file.path, file.issue);
    await commands.executeCommand('vscode.diff', base, work, withoutLinks(title));
  }

  /** Saves the person's edits of a change. */
  async save(review: IssueReview): Promise<void> {
    const isOwn = (uri: Uri) => {
      const text = issueTextOf(uri);
      if (text !== undefined) return isSameIssue(text, review);
      return uri.scheme === 'file' && uri.fsPath.startsWith(`${review.worktree}/`);
    };
    for (const it of workspace.textDocuments) if (it.isDirty && isOwn(it.uri)) await it.save();
  }

  /** Closes the tabs of a decided change, unless they have unsaved edits. */
  async close(review: IssueReview): Promise<void> {
    const own = allTabs().filter((tab) => {
      const issue = issueOf(tab, [review]);
      return issue !== undefined && isSameIssue(issue, review) && !tab.isDirty;
    });
    if (own.length > 0) await window.tabGroups.close(own);
  }

  /** Lets the title bar have the actions of an issue. */
  updateContext(): void {
    void commands.executeCommand('setContext', 'trellis.issueShown', this.active !== undefined);
  }
}

/** Returns the issue that a tab shows, if it is among the changes or its texts name it. */
function issueOf(tab: Tab, reviews: readonly IssueReview[]): IssueRef | undefined {
  const { input } = tab;
  if (input instanceof TabInputText) return issueTextOf(input.uri);
  if (input instanceof TabInputTextDiff) return issueTextOf(input.modified) ?? issueTextOf(input.original);
  // The editor has no stable class for differences of several files, and does not always know the files.
  const { textDiffs } = fields(input);
  const [first] = Array.isArray(textDiffs) ? textDiffs : [];
  const { original, modified } = fields(first);
  const uri = [modified, original].find((it) => it instanceof Uri);
  if (uri !== undefined) return issueTextOf(uri);
  const isMultiple = input === undefined || Array.isArray(textDiffs);
  return reviews.find((it) => isMultiple && isLabelOf(tab.label, withoutLinks(it.title)));
}

/** Returns whether a label is a title, with which the editor shows the number of files. */
function isLabelOf(label: string, title: string): boolean {
  return label === title || (label.startsWith(`${title} (`) && label.endsWith(')'));
}

function sides(file: IssueFile): [Uri, Uri] {
  const { root, issue, path } = file;
  const side = (it: 'base' | 'work') => issueUri({ root, issue, path, side: it });
  return [side('base'), side('work')];
}

function allTabs(): readonly Tab[] {
  return window.tabGroups.all.flatMap((it) => it.tabs);
}
