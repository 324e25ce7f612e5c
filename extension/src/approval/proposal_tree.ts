// The list of proposals in the Trellis view.
import {
  EventEmitter,
  l10n,
  MarkdownString,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  window,
} from 'vscode';
import { rowOf } from './messages';
import type { ProposalStore } from './proposal_store';
import { proposalKey } from './proposal_uri';
import { ordered, type Proposal, waiting } from './queue';

export class ProposalTree implements TreeDataProvider<Proposal> {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view: TreeView<Proposal>;

  constructor(private readonly proposals: ProposalStore) {
    this.view = window.createTreeView('trellis.fixes', { treeDataProvider: this });
  }

  /** Shows the current proposals. */
  update(): void {
    const count = waiting(this.proposals.queue).length;
    const tooltip =
      count === 1 ? l10n.t('1 proposed fix to review') : l10n.t('{0} proposed fixes to review', count);
    this.view.badge = count === 0 ? undefined : { value: count, tooltip };
    this.view.message = this.proposals.problems.join('\n');
    this.changes.fire(undefined);
  }

  getChildren(row?: Proposal): Proposal[] {
    return row === undefined ? [...ordered(this.proposals.queue)] : [];
  }

  getTreeItem(fix: Proposal): TreeItem {
    const { label, description, tooltip, icon, context } = rowOf(fix, l10n.t);
    const item = new TreeItem(label, TreeItemCollapsibleState.None);
    item.id = proposalKey(fix);
    item.description = description;
    item.tooltip = tooltip.reduce(
      (text, it) => text.appendText(it).appendMarkdown('\n\n'),
      new MarkdownString(),
    );
    item.iconPath = new ThemeIcon(icon);
    item.contextValue = context;
    const given = { root: fix.root, fix: fix.fix };
    item.command = { command: 'trellis.reviewFix', title: l10n.t('Review'), arguments: [given] };
    return item;
  }

  dispose(): void {
    this.view.dispose();
    this.changes.dispose();
  }
}
