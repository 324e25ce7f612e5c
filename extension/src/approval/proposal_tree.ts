// The list of what waits for the person in the Trellis view: fixes, and issues with their files.
import {
  Disposable,
  EventEmitter,
  l10n,
  MarkdownString,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCheckboxState,
  TreeItemCollapsibleState,
  type TreeView,
  window,
} from 'vscode';
import type { LeftOut } from '../issue/left_out';
import { fileRow, type IssueFile, type IssueReview, issueKey, issueRow } from '../issue/reviews';
import type { Review } from '../protocol';
import { sentence } from '../sentence';
import { passText, previewTitle, type TestPreview, type TestPreviews } from '../testing/test_previews';
import { rowOf, totalOf, waitingCount } from './messages';
import type { ProposalStore } from './proposal_store';
import { proposalKey } from './proposal_uri';
import { ordered, type Proposal, waiting } from './queue';

/** A file of an issue. */
type FileRow = IssueFile & { readonly file: Review['files'][number] };
type Row = Proposal | IssueReview | FileRow | TestPreview;

export class ProposalTree implements TreeDataProvider<Row> {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view: TreeView<Row>;
  private readonly listening: Disposable;

  constructor(
    private readonly proposals: ProposalStore,
    private readonly leftOut: LeftOut,
    private readonly previews: TestPreviews,
  ) {
    const options = { treeDataProvider: this, manageCheckboxStateManually: true };
    this.view = window.createTreeView('trellis.fixes', options);
    this.listening = Disposable.from(
      this.leftOut.onChange(() => this.changes.fire(undefined)),
      this.view.onDidChangeCheckboxState(async ({ items }) => {
        for (const [row, state] of items)
          if ('file' in row) await this.leftOut.set(row, state === TreeItemCheckboxState.Unchecked);
      }),
    );
  }

  /** Shows what waits now. */
  update(): void {
    const counts = {
      fixes: waiting(this.proposals.queue).length,
      issues: this.proposals.reviews.length,
      tests: this.previews.all.length,
    };
    const value = totalOf(counts);
    this.view.badge = value === 0 ? undefined : { value, tooltip: waitingCount(counts, l10n.t) };
    this.view.message = this.proposals.problems.join('\n');
    this.changes.fire(undefined);
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) return this.all();
    if (!('worktree' in row)) return [];
    const { root, issue } = row;
    return row.files.map((file) => ({ root, issue, path: file.path, file }));
  }

  private all(): Row[] {
    return [...this.proposals.reviews, ...this.previews.all, ...ordered(this.proposals.queue)];
  }

  getTreeItem(row: Row): TreeItem {
    if ('fix' in row) return fixItem(row);
    if ('draft' in row) return testsItem(row);
    return 'file' in row ? this.fileItem(row) : issueItem(row);
  }

  dispose(): void {
    Disposable.from(this.view, this.listening, this.changes).dispose();
  }

  private fileItem(row: FileRow): TreeItem {
    const isLeftOut = this.leftOut.has(row);
    const item = new TreeItem(row.path, TreeItemCollapsibleState.None);
    item.id = `${issueKey(row)}\n${row.path}`;
    item.description = fileRow(row.file, isLeftOut, l10n.t);
    item.tooltip = row.path;
    item.contextValue = 'issueFile';
    item.checkboxState = {
      state: isLeftOut ? TreeItemCheckboxState.Unchecked : TreeItemCheckboxState.Checked,
      tooltip: isLeftOut ? l10n.t('Left out: not merged') : l10n.t('Merged with the issue'),
      accessibilityInformation: { label: l10n.t('Merge {0}', row.path) },
    };
    const { root, issue, path } = row;
    const title = l10n.t('Show Changes');
    item.command = { command: 'trellis.reviewIssueFile', title, arguments: [{ root, issue, path }] };
    return item;
  }
}

function issueItem(review: IssueReview): TreeItem {
  const { label, description, tooltip } = issueRow(review, l10n.t);
  const item = new TreeItem(label, TreeItemCollapsibleState.Expanded);
  item.id = issueKey(review);
  item.description = description;
  item.tooltip = paragraphs(tooltip);
  item.iconPath = new ThemeIcon(review.refused ? 'error' : 'git-pull-request');
  item.contextValue = 'issue';
  const { root, issue } = review;
  item.command = { command: 'trellis.reviewIssue', title: l10n.t('Review'), arguments: [{ root, issue }] };
  return item;
}

function testsItem(preview: TestPreview): TreeItem {
  const item = new TreeItem(previewTitle(preview, l10n.t), TreeItemCollapsibleState.None);
  const { root, function: name, path, warnings } = preview;
  item.id = `${root}\n${name}`;
  item.description = passText(preview, l10n.t);
  item.tooltip = paragraphs([previewTitle(preview, l10n.t), path, ...warnings.map(sentence)]);
  item.iconPath = new ThemeIcon('beaker');
  item.contextValue = 'tests';
  const given = { root, function: name };
  item.command = { command: 'trellis.reviewTests', title: l10n.t('Review'), arguments: [given] };
  return item;
}

function fixItem(fix: Proposal): TreeItem {
  const { label, description, tooltip, icon, context } = rowOf(fix, l10n.t);
  const item = new TreeItem(label, TreeItemCollapsibleState.None);
  item.id = proposalKey(fix);
  item.description = description;
  item.tooltip = paragraphs(tooltip);
  item.iconPath = new ThemeIcon(icon);
  item.contextValue = context;
  const given = { root: fix.root, fix: fix.fix };
  item.command = { command: 'trellis.reviewFix', title: l10n.t('Review'), arguments: [given] };
  return item;
}

function paragraphs(texts: readonly string[]): MarkdownString {
  return texts.reduce((all, it) => all.appendText(it).appendMarkdown('\n\n'), new MarkdownString());
}
