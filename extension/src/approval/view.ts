// The list of proposals in the panel.
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
import type { Fixes } from './fixes';
import { keyOf } from './place';
import { ordered, type Proposal, waiting } from './queue';
import { rowOf } from './words';

export class FixTree implements TreeDataProvider<Proposal> {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view: TreeView<Proposal>;

  constructor(private readonly fixes: Fixes) {
    this.view = window.createTreeView('trellis.fixes', { treeDataProvider: this });
  }

  /** Shows what is new. */
  follow(): void {
    const count = waiting(this.fixes.queue).length;
    const tooltip =
      count === 1 ? l10n.t('1 proposed fix to review') : l10n.t('{0} proposed fixes to review', count);
    this.view.badge = count === 0 ? undefined : { value: count, tooltip };
    this.view.message = this.fixes.problems.join('\n');
    this.changes.fire(undefined);
  }

  getChildren(row?: Proposal): Proposal[] {
    return row === undefined ? [...ordered(this.fixes.queue)] : [];
  }

  getTreeItem(fix: Proposal): TreeItem {
    const { label, description, tooltip, icon, context } = rowOf(fix, l10n.t);
    const item = new TreeItem(label, TreeItemCollapsibleState.None);
    item.id = keyOf(fix);
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
