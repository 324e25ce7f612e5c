// Registers the tree of nodes, the page of the graph, and the commands about nodes.
import {
  commands,
  type Disposable,
  type ExtensionContext,
  l10n,
  type WebviewPanel,
  window,
  workspace,
} from 'vscode';
import { type Budget, costText } from '../run/cost';
import type { JobStore } from '../run/job_store';
import { budgetFor } from '../run/jobs';
import type { Run } from '../run/run_state';
import type { RunStore } from '../run/run_store';
import type { Sidecar } from '../sidecar/api';
import { errorText } from '../sidecar/errors';
import { guarded } from '../sidecar/report_error';
import { GRAPH_VIEW, GraphPage } from './graph_page';
import {
  type NodeOfRun,
  nodeOf,
  openNode,
  openTests,
  pickFilter,
  pickNeighbor,
  pickRun,
  REASON_SCHEME,
  retryNodeOrTasks,
  showReason,
} from './node_actions';
import { ALL_STATUSES, type Row, summary } from './node_rows';
import { NodeTree } from './node_tree';
import { registerPlanLenses } from './plan_lenses';

const t = l10n.t;

export function registerPanel(
  context: ExtensionContext,
  sidecar: Sidecar,
  jobStore: JobStore,
  runs: RunStore,
): void {
  const tree = new NodeTree(runs);
  const view = window.createTreeView<Row>('trellis.nodes', { treeDataProvider: tree, showCollapseAll: true });
  const reveal = (id: string) => {
    if (view.visible) void view.reveal(tree.node(id), { select: true, focus: false });
  };
  const page = new GraphPage(context.extensionUri, runs, reveal);
  const follow = runs.onChange((change) => {
    tree.update(change);
    page.update(change);
    const { run } = change;
    // A view in a container of its own shows no description, but always the message.
    view.message = run === undefined ? errorMessage(runs) : headline(run, budgetFor(jobStore.jobs, run.out));
    view.title = titleOf(run);
    void commands.executeCommand('setContext', 'trellis.hasRun', run !== undefined);
  });
  const bringBack = {
    deserializeWebviewPanel: async (panel: WebviewPanel) => page.attach(panel),
  };
  context.subscriptions.push(
    tree,
    view,
    page,
    follow,
    ...registerPlanLenses(runs),
    window.registerWebviewPanelSerializer(GRAPH_VIEW, bringBack),
    workspace.registerTextDocumentContentProvider(REASON_SCHEME, {
      provideTextDocumentContent: (uri) => uri.query,
    }),
    ...registerNodeCommands(sidecar, jobStore, runs, page),
    ...registerRunCommands(sidecar, runs, tree, page),
  );
}

/** Makes the title of the view, with the folder of the run if several folders are open. */
function titleOf(run: Run | undefined): string {
  const several = (workspace.workspaceFolders?.length ?? 0) > 1;
  const isOfTasks = run?.kind === 'tasks';
  if (run === undefined || !several) return isOfTasks ? t('Tasks') : t('Run');
  const folder = workspace.asRelativePath(run.out);
  return isOfTasks ? t('Tasks in {0}', folder) : t('Run in {0}', folder);
}

function errorMessage(runs: RunStore): string {
  return runs.error === undefined ? '' : errorText(runs.error);
}

/** Counts the nodes by status, with the cost of the run. */
function headline({ nodes, cost }: Run, budget: Budget | undefined): string {
  const counts = summary([...nodes.values()], t);
  return cost === undefined ? counts : `${counts} · ${costText(cost, budget, t)}`;
}

function registerNodeCommands(
  sidecar: Sidecar,
  jobStore: JobStore,
  runs: RunStore,
  page: GraphPage,
): Disposable[] {
  const command = (name: string, failure: string, work: (it: NodeOfRun) => Promise<unknown>) =>
    commands.registerCommand(
      name,
      guarded(failure, async (argument: unknown) => {
        const it = await nodeOf(runs, argument);
        if (it !== undefined) await work(it);
      }),
    );
  return [
    command('trellis.openNode', t('Could not open the code'), (it) => openNode(sidecar, it)),
    command('trellis.openNodeTests', t('Could not open the tests'), (it) => openTests(sidecar, it)),
    command('trellis.retryThisNode', t('Could not retry the node'), (it) =>
      retryNodeOrTasks(sidecar, jobStore, it),
    ),
    command('trellis.showReason', t('Could not show the reason'), showReason),
    command('trellis.showInGraph', t('Could not show the graph'), async ({ node }) => {
      page.open();
      page.select(node.id);
    }),
    command('trellis.showNeighbours', t('Could not show the dependencies'), async (it) => {
      const chosen = await pickNeighbor(sidecar, it);
      if (chosen !== undefined) await commands.executeCommand('trellis.showInGraph', chosen);
    }),
  ];
}

function registerRunCommands(
  sidecar: Sidecar,
  runs: RunStore,
  tree: NodeTree,
  page: GraphPage,
): Disposable[] {
  const filtered = (isOn: boolean) => commands.executeCommand('setContext', 'trellis.filtered', isOn);
  return [
    commands.registerCommand('trellis.showGraph', () => page.open()),
    commands.registerCommand('trellis.showAllNodes', () => {
      tree.filter = ALL_STATUSES;
      void filtered(false);
    }),
    commands.registerCommand(
      'trellis.filterNodes',
      guarded(t('Could not filter the nodes'), async () => {
        const filter = await pickFilter(tree.filter);
        if (filter === undefined) return;
        tree.filter = filter;
        await filtered(filter.size < ALL_STATUSES.size);
      }),
    ),
    commands.registerCommand(
      'trellis.selectRun',
      guarded(t('Could not show the run'), async () => {
        const out = await pickRun(sidecar);
        if (out !== undefined) await runs.show(out);
      }),
    ),
  ];
}
