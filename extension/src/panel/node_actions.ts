// Actions for a node of the shown run.

import { join } from 'node:path';
import {
  commands,
  l10n,
  Position,
  type QuickPickItem,
  Range,
  Uri,
  type ViewColumn,
  window,
  workspace,
} from 'vscode';
import { fileExists } from '../files/exists';
import { retryNode } from '../generation/generate';
import { configuredModel } from '../models/configured_model';
import { pickModel } from '../models/model_picker';
import type { ReachedNode } from '../protocol';
import type { JobStore } from '../run/job_store';
import { type Run, type RunNode, STATUSES, type Status } from '../run/run_state';
import type { RunStore } from '../run/run_store';
import { type Sidecar, TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { fields } from '../unknown_value';
import { type NodePage, nodeIdOf } from './node_page';
import { lineOf, STATUS_ICONS, statusName, statusText, summary } from './node_rows';

const t = l10n.t;

/** A node and its run. */
export interface NodeOfRun {
  readonly run: Run;
  readonly node: RunNode;
}

/** Returns the node of a row of the tree or of an id; asks if the argument is neither. */
export async function nodeOf(runs: RunStore, argument: unknown): Promise<NodeOfRun | undefined> {
  // A page may be about another run than the shown one.
  const out = nodeIdOf(argument)?.out;
  if (out !== undefined && out !== runs.current?.out) await runs.show(out);
  const run = runs.current;
  if (run === undefined) {
    throw new TrellisError(
      t('no run is shown'),
      65,
      t('start one, or choose one with "Select Run…" in the Trellis view'),
      'badInput',
    );
  }
  const id = idOf(argument) ?? (await pickNode(run));
  const node = id === undefined ? undefined : run.nodes.get(id);
  return node && { run, node };
}

/** Opens the code of a node; of a task, its entry in the task list; of others, their page. */
export async function openNode(sidecar: Sidecar, page: NodePage, { run, node }: NodeOfRun): Promise<void> {
  if (node.status === 'failed' || node.status === 'skipped') return await page.open(run.out, node.id);
  if (run.kind === 'tasks') return await editSpecification({ run, node });
  const seen = await sidecar.request('trellis/codeView', codeViewParams(run, node));
  if (!seen.generated) return await page.open(run.out, node.id);
  await showLine(join(run.out, seen.path), seen.symbols[0]?.line);
}

/** Opens the entry of a node in its planning graph, or of a task in its list. */
export async function editSpecification({ run, node }: NodeOfRun, column?: ViewColumn): Promise<void> {
  const document = await workspace.openTextDocument(Uri.file(run.graph));
  await showLine(run.graph, lineOf(document.getText(), node.id), column);
}

/** Asks for another model, and retries a node or tasks with it. */
export async function retryWithModel(sidecar: Sidecar, jobStore: JobStore, it: NodeOfRun): Promise<void> {
  const model = await pickModel(sidecar, configuredModel(it.run.out).model ?? '', it.run.out);
  if (model !== undefined) await retryNodeOrTasks(sidecar, jobStore, it, model);
}

export async function openTests(sidecar: Sidecar, { run, node }: NodeOfRun): Promise<void> {
  if (run.kind === 'tasks') {
    const hint = t('look for the commit that names the task in its last line');
    throw new TrellisError(
      t('{0} is a task, and tasks have no test file of their own', node.name),
      65,
      hint,
      'badInput',
    );
  }
  const { testPath } = await sidecar.request('trellis/codeView', codeViewParams(run, node));
  const file = testPath ? join(run.out, testPath) : undefined;
  const there = file !== undefined && (await fileExists(Uri.file(file)));
  if (!there) {
    const hint = t('tests are kept once the node has passed');
    throw new TrellisError(t('{0} has no test file', node.name), 65, hint, 'badInput');
  }
  await showLine(file, undefined);
}

/** Retries a node; for a task, all tasks that are not merged, by the command that built them. */
export async function retryNodeOrTasks(
  sidecar: Sidecar,
  jobStore: JobStore,
  { run, node }: NodeOfRun,
  model = '',
): Promise<void> {
  if (run.kind === 'tasks') {
    const { file, stack } = await sidecar.request('trellis/tasksStatus', { out: run.out });
    const chosen = model === '' ? {} : { model };
    await commands.executeCommand('trellis.tasks', { file, stack, out: run.out, ...chosen });
    return;
  }
  // The models for simple and hard nodes would take precedence.
  const models = model === '' ? {} : { model, simpleModel: model, strongModel: model };
  await retryNode(sidecar, jobStore, { node: node.id, out: run.out, ...models });
}

/** Shows the dependencies and dependents of a node; returns the chosen one. */
export async function pickNeighbor(sidecar: Sidecar, { run, node }: NodeOfRun): Promise<string | undefined> {
  const around = await sidecar.request('trellis/planDeps', { graph: run.graph, node: node.id, hops: 1 });
  const row = (it: ReachedNode, arrow: string) => {
    const known = run.nodes.get(it.id);
    const state = known === undefined ? '' : statusText(known, t);
    return {
      label: `$(${arrow}) ${it.name}`,
      description: [state, it.role].filter((it) => it).join(' · '),
      id: it.id,
    };
  };
  const needed = around.outgoing.map((it) => row(it, 'arrow-left'));
  const needing = around.incoming.map((it) => row(it, 'arrow-right'));
  const items: (QuickPickItem & { id?: string })[] = [
    { label: t('{0} depends on', node.name), kind: -1 },
    ...needed,
    { label: t('used by'), kind: -1 },
    ...needing,
  ];
  if (needed.length + needing.length === 0) {
    await notify.info(t('{0} has no dependencies, and nothing depends on it.', node.name));
    return undefined;
  }
  return (await window.showQuickPick(items, { title: t('Dependencies of {0}', node.name) }))?.id;
}

/** Asks for the statuses that are shown; `undefined` if the person cancelled. */
export async function pickFilter(current: ReadonlySet<Status>): Promise<ReadonlySet<Status> | undefined> {
  const items = STATUSES.map((status) => ({
    label: `$(${STATUS_ICONS[status].icon.replace('~spin', '')}) ${statusName(status, t)}`,
    picked: current.has(status),
    status,
  }));
  const title = t('Show nodes that are');
  const chosen = await window.showQuickPick(items, { title, canPickMany: true });
  return chosen && new Set(chosen.map((it) => it.status));
}

/** Asks for a run of the open folders. */
export async function pickRun(sidecar: Sidecar): Promise<string | undefined> {
  const { runs } = await sidecar.request('trellis/listRuns', {});
  if (runs.length === 0) {
    await notify.info(t('No run in the open folders.'));
    return undefined;
  }
  const items = runs.map((it) => ({
    label: workspace.asRelativePath(it.out),
    description: t('{0}/{1} passed', it.passed, it.total),
    out: it.out,
  }));
  return (await window.showQuickPick(items, { title: t('Show which run?') }))?.out;
}

async function pickNode(run: Run): Promise<string | undefined> {
  const nodes = [...run.nodes.values()];
  const items = nodes.map((it) => ({
    label: it.name,
    description: `${it.subgraph} · ${statusText(it, t)}`,
    id: it.id,
  }));
  return (await window.showQuickPick(items, { title: summary(nodes, t), matchOnDescription: true }))?.id;
}

function idOf(argument: unknown): string | undefined {
  if (typeof argument === 'string') return argument;
  const { id } = fields(argument);
  return typeof id === 'string' ? id : undefined;
}

function codeViewParams(run: Run, node: RunNode) {
  return { what: node.id, root: run.out, plan: run.graph, signatures: true };
}

/**
 * Opens a file.
 * @param line from 1, if known
 */
async function showLine(file: string, line: number | undefined, column?: ViewColumn): Promise<void> {
  const place = line === undefined ? undefined : new Position(line - 1, 0);
  const selection = place === undefined ? {} : { selection: new Range(place, place) };
  const beside = column === undefined ? {} : { viewColumn: column };
  await window.showTextDocument(Uri.file(file), { ...selection, ...beside });
}
