// Starting runs: of a graph, of one that stopped, and of the demonstration.
import { isAbsolute, join } from 'node:path';
import { FileSystemError, l10n, Uri, workspace } from 'vscode';
import { means } from '../means/means';
import { pickModel } from '../models/pick';
import type { GenerateParams, RetryNodeParams, Run } from '../protocol';
import type { Board } from '../run/board';
import { budgetOf } from '../run/cost';
import type { Sidecar } from '../sidecar/api';
import { DEMO } from './ending';
import { type Choice, order } from './order';
import { folderFor, pickFolder, pickGraph, pickRun } from './pick';

/** What a caller has chosen already; what is left out is asked for. */
export interface Asked {
  readonly graph?: string;
  readonly out?: string;
  readonly model?: string;
}

/** Asks for what is missing, then starts. Gives the job; nothing where the person changed their mind. */
export async function generate(sidecar: Sidecar, board: Board, asked: Asked): Promise<string | undefined> {
  const graph = asked.graph === undefined ? await pickGraph() : await absolute(asked.graph);
  if (graph === undefined) return undefined;
  const out = asked.out === undefined ? await pickFolder(graph) : (await absolute(asked.out, graph))?.fsPath;
  if (out === undefined) return undefined;
  const model = asked.model ?? (await modelFor(Uri.file(out)));
  if (model === undefined) return undefined;
  const chosen = { graph: graph.fsPath, out };
  return await start(sidecar, board, model === AS_CONFIGURED ? chosen : { ...chosen, model });
}

/** Goes on with a run that stopped, with the options it was started with. */
export async function resumeRun(sidecar: Sidecar, board: Board, out?: string): Promise<string | undefined> {
  const title = l10n.t('Resume which run?');
  const resumable = (it: Run) => it.state === 'stopped' && it.kind === 'generate';
  const folder = out ?? (await pickRun(sidecar, resumable, title));
  if (folder === undefined) return undefined;
  return await ordered(sidecar, board, { out: folder, ...(await means('resume', folder)) }, folder);
}

/** Works again on one node of a run, with the options that the run was started with. */
export async function retryNode(sidecar: Sidecar, board: Board, given: RetryNodeParams): Promise<void> {
  const params = { ...(await means('trellis/retryNode', given.out)), ...given };
  const { job } = await sidecar.request('trellis/retryNode', params);
  board.began(job, given.out, budgetOf(params));
}

/** Grows the graph that comes with the extension from recorded replies; needs no key and no network. */
export async function demo(sidecar: Sidecar, board: Board, extension: Uri): Promise<string | undefined> {
  const base = await folderFor();
  if (base === undefined) return undefined;
  const folder = Uri.file(join(base, DEMO));
  const [graph, replies] = [Uri.joinPath(folder, 'rpg.json'), Uri.joinPath(folder, 'replies.jsonl')];
  await workspace.fs.createDirectory(folder);
  for (const file of [graph, replies]) await provide(Uri.joinPath(extension, 'demo'), file);
  const choice = { graph: graph.fsPath, out: join(folder.fsPath, 'sprout') };
  return await start(sidecar, board, { ...choice, model: `recorded:${replies.fsPath}` });
}

/** Models that `trellis.model` or trellis.toml or the environment name. */
const AS_CONFIGURED = '';

/** The model that was chosen; empty where one is configured, nothing where the person changed their mind. */
export async function modelFor(out: Uri): Promise<string | undefined> {
  const set = workspace.getConfiguration('trellis', out).get('model', '');
  return set === '' ? await pickModel() : AS_CONFIGURED;
}

async function start(sidecar: Sidecar, board: Board, choice: Choice): Promise<string> {
  const params = order(choice, await means('trellis/generate', choice.out));
  return await ordered(sidecar, board, params, choice.out);
}

async function ordered(sidecar: Sidecar, board: Board, params: GenerateParams, out: string): Promise<string> {
  const { job } = await sidecar.request('trellis/generate', params);
  board.began(job, out, budgetOf(params));
  return job;
}

async function absolute(path: string, beside?: Uri): Promise<Uri | undefined> {
  if (isAbsolute(path)) return Uri.file(path);
  const base = await folderFor(beside);
  return base === undefined ? undefined : Uri.file(join(base, path));
}

/** Copies a file of the demonstration, unless an earlier one left it. */
async function provide(from: Uri, to: Uri): Promise<void> {
  const name = to.path.slice(to.path.lastIndexOf('/') + 1);
  try {
    await workspace.fs.copy(Uri.joinPath(from, name), to, { overwrite: false });
  } catch (error) {
    if (!(error instanceof FileSystemError && error.code === 'FileExists')) throw error;
  }
}
