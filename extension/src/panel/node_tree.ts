// The tree of nodes by subgraph, which follows the shown run.
import {
  type Event,
  EventEmitter,
  l10n,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
} from 'vscode';
import type { RunKind } from '../protocol';
import type { Run, RunNode, Status } from '../run/run_state';
import type { RunChange, RunStore } from '../run/run_store';
import {
  ALL_STATUSES,
  changedGroups,
  contextOf,
  descriptionOf,
  type Filter,
  type Groups,
  groupStatus,
  groupsOf,
  type Row,
  STATUS_ICONS,
  staleKeys,
  statusText,
  summary,
} from './node_rows';

const t = l10n.t;

/** Runs with more nodes start with collapsed groups, which cost nothing. */
const MANY_NODES = 200;
/** Milliseconds between two updates of many rows; few rows are updated at once. */
const REDRAW_DELAY_MS = 1000;

export class NodeTree implements TreeDataProvider<Row> {
  private readonly changes = new EventEmitter<Row[] | undefined>();
  readonly onDidChangeTreeData: Event<Row[] | undefined> = this.changes.event;
  private currentFilter: Filter = ALL_STATUSES;
  /** Rows by key: the editor identifies a row by its object. */
  private readonly rows = new Map<string, Row>();
  private groups: Groups = new Map();
  /** Ids of changed nodes that are not updated yet. */
  private readonly undrawn = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly runs: RunStore) {}

  get filter(): Filter {
    return this.currentFilter;
  }

  set filter(filter: Filter) {
    this.currentFilter = filter;
    this.drawAll();
  }

  /** Updates changed rows only. */
  update({ run, changed }: RunChange): void {
    if (changed === 'all' || run === undefined) {
      this.drawAll();
      return;
    }
    for (const id of changed) this.undrawn.add(id);
    if (this.undrawn.size <= MANY_NODES) this.draw();
    else this.timer ??= setTimeout(() => this.draw(), REDRAW_DELAY_MS);
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) return [...this.groups.keys()].map((it) => this.group(it));
    if (row.kind === 'group') return (this.groups.get(row.subgraph) ?? []).map((it) => this.node(it.id));
    const node = row.kind === 'node' ? this.find(row.id) : undefined;
    return node?.reason === undefined ? [] : [this.row(`reason ${node.id}`, { kind: 'reason', id: node.id })];
  }

  getParent(row: Row): Row | undefined {
    if (row.kind === 'group') return undefined;
    if (row.kind === 'reason') return this.node(row.id);
    const node = this.find(row.id);
    return node && this.group(node.subgraph);
  }

  getTreeItem(row: Row): TreeItem {
    if (row.kind === 'group') {
      const isMany = (this.runs.current?.nodes.size ?? 0) > MANY_NODES;
      return groupItem(row.subgraph, this.groups.get(row.subgraph) ?? [], isMany);
    }
    const node = this.find(row.id);
    if (node === undefined) return new TreeItem(row.id);
    return row.kind === 'node' ? nodeItem(node, this.runs.current?.kind) : reasonItem(node);
  }

  /** Returns the row of a node. */
  node(id: string): Row {
    return this.row(`node ${id}`, { kind: 'node', id });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changes.dispose();
  }

  private drawAll(): void {
    const run: Run | undefined = this.runs.current;
    this.groups = run === undefined ? new Map() : groupsOf(run, this.currentFilter);
    for (const key of staleKeys(this.rows, run)) this.rows.delete(key);
    this.changes.fire(undefined);
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const run = this.runs.current;
    if (run === undefined) return;
    this.undrawn.clear();
    const before = this.groups;
    this.groups = groupsOf(run, this.currentFilter);
    const drawn = changedGroups(before, this.groups);
    if (drawn === 'all') this.changes.fire(undefined);
    // The editor updates the rows below a row, too.
    else if (drawn.length > 0) this.changes.fire(drawn.map((it) => this.group(it)));
  }

  private find(id: string): RunNode | undefined {
    return this.runs.current?.nodes.get(id);
  }

  private group(subgraph: string): Row {
    return this.row(`group ${subgraph}`, { kind: 'group', subgraph });
  }

  private row(key: string, made: Row): Row {
    const row = this.rows.get(key) ?? made;
    this.rows.set(key, row);
    return row;
  }
}

function icon(status: Status): ThemeIcon {
  const { icon: name, colour } = STATUS_ICONS[status];
  return colour === undefined ? new ThemeIcon(name) : new ThemeIcon(name, new ThemeColor(colour));
}

function groupItem(subgraph: string, nodes: readonly RunNode[], isClosed: boolean): TreeItem {
  const { Collapsed, Expanded } = TreeItemCollapsibleState;
  const item = new TreeItem(subgraph, isClosed ? Collapsed : Expanded);
  item.id = `group ${subgraph}`;
  item.description = summary(nodes, t);
  item.iconPath = icon(groupStatus(nodes));
  item.contextValue = 'group';
  return item;
}

function nodeItem(node: RunNode, kind: RunKind | undefined): TreeItem {
  const collapsibleState =
    node.reason === undefined ? TreeItemCollapsibleState.None : TreeItemCollapsibleState.Collapsed;
  const item = new TreeItem(node.name, collapsibleState);
  item.id = `node ${node.id}`;
  item.description = descriptionOf(node, t);
  item.iconPath = icon(node.status);
  item.contextValue = contextOf(node, kind);
  item.tooltip = tooltip(node);
  item.accessibilityInformation = { label: `${node.name}, ${statusText(node, t)}` };
  item.command = {
    command: 'trellis.openNode',
    title: t('Open'),
    arguments: [{ kind: 'node', id: node.id }],
  };
  return item;
}

function tooltip(node: RunNode): MarkdownString {
  const text = new MarkdownString();
  text.appendText(`${node.id}: ${statusText(node, t)}\n`);
  if (node.stage !== undefined) text.appendText(`${node.stage}\n`);
  if (node.reason !== undefined) text.appendText(`${node.reason}\n`);
  return text;
}

function reasonItem(node: RunNode): TreeItem {
  const item = new TreeItem(node.reason ?? '');
  item.id = `reason ${node.id}`;
  item.iconPath = new ThemeIcon('comment');
  item.tooltip = node.reason ?? '';
  item.contextValue = 'reason';
  item.command = {
    command: 'trellis.showReason',
    title: t('Show'),
    arguments: [{ kind: 'node', id: node.id }],
  };
  return item;
}
