// Registers the tree of nodes, the page of the graph, and the commands about nodes.
import {
  commands,
  type Disposable,
  type ExtensionContext,
  l10n,
  Uri,
  type WebviewPanel,
  window,
  workspace,
} from 'vscode';
import { kindOf } from '../generation/plan_kind';
import { pickPlan } from '../generation/run_pickers';
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
  editSpecification,
  type NodeOfRun,
  nodeOf,
  openNode,
  openTests,
  pickFilter,
  pickNeighbor,
  pickRun,
  retryNodeOrTasks,
  retryWithModel,
} from './node_actions';
import { NODE_VIEW, NodePage, nodeIdOf } from './node_page';
import { ALL_STATUSES, type Row, summary } from './node_rows';
import { NodeTree } from './node_tree';
import { registerPlanLenses } from './plan_lenses';
import { PlanPreview } from './plan_preview';

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
  const preview = new PlanPreview(sidecar);
  const page = new GraphPage(context.extensionUri, runs, preview, reveal, sidecar);
  const nodePage = new NodePage(context.extensionUri, sidecar, runs, jobStore);
  const follow = runs.onChange((change) => {
    tree.update(change);
    // A run that begins takes the place of its plan.
    if (change.changed === 'all' && change.run?.graph === preview.current?.run.graph) preview.clear();
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
    preview,
    preview.onChange(() => page.drawAll()),
    ...registerPlanLenses(runs),
    window.registerWebviewPanelSerializer(GRAPH_VIEW, bringBack),
    nodePage,
    window.registerWebviewPanelSerializer(NODE_VIEW, {
      deserializeWebviewPanel: async (panel, state: unknown) => nodePage.attach(panel, nodeIdOf(state)),
    }),
    ...registerNodeCommands(sidecar, jobStore, runs, page, nodePage, preview),
    ...registerRunCommands(sidecar, runs, tree, page, preview),
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
  nodePage: NodePage,
  preview: PlanPreview,
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
    command('trellis.openNode', t('Could not open the code'), (it) => openNode(sidecar, nodePage, it)),
    command('trellis.openNodeTests', t('Could not open the tests'), (it) => openTests(sidecar, it)),
    command('trellis.retryThisNode', t('Could not retry the node'), (it) =>
      retryNodeOrTasks(sidecar, jobStore, it),
    ),
    command('trellis.retryWithModel', t('Could not retry the node'), (it) =>
      retryWithModel(sidecar, jobStore, it),
    ),
    command('trellis.showReason', t('Could not show the reason'), ({ run, node }) =>
      nodePage.open(run.out, node.id),
    ),
    command('trellis.editSpecification', t('Could not open the specification'), editSpecification),
    command('trellis.showInGraph', t('Could not show the graph'), async ({ node }) => {
      preview.clear();
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
  preview: PlanPreview,
): Disposable[] {
  const filtered = (isOn: boolean) => commands.executeCommand('setContext', 'trellis.filtered', isOn);
  return [
    commands.registerCommand(
      'trellis.showGraph',
      guarded(t('Could not show the graph'), (it: unknown) => showGraph(runs, page, preview, it)),
    ),
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
        if (out === undefined) return;
        preview.clear();
        await runs.show(out);
      }),
    ),
  ];
}

/**
 * Shows the picture of a plan or of the shown run.
 * @param argument a file; else the plan in the active editor, then the shown run, then a plan that is chosen
 */
async function showGraph(
  runs: RunStore,
  page: GraphPage,
  preview: PlanPreview,
  argument: unknown,
): Promise<void> {
  const file = argument instanceof Uri ? argument.fsPath : activePlan();
  const run = runs.current;
  const isOfRun = run !== undefined && [run.graph, `${run.out}/docs/rpg.json`].includes(file ?? run.graph);
  if (file !== undefined && !isOfRun) await preview.show(file);
  else if (isOfRun) preview.clear();
  else {
    const chosen = await pickPlan();
    if (chosen === undefined) return;
    await preview.show(chosen.fsPath);
  }
  page.open();
}

/** Returns the file in the active editor if it is a plan. */
function activePlan(): string | undefined {
  const document = window.activeTextEditor?.document;
  if (document?.uri.scheme !== 'file' || !document.uri.fsPath.endsWith('.json')) return undefined;
  const kind = kindOf(document.getText());
  return kind === 'graph' || kind === 'tasks' ? document.uri.fsPath : undefined;
}
