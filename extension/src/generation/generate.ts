// Starts runs: of a planning graph, of a stopped run, and of the demo.
import { isAbsolute, join } from 'node:path';
import { FileSystemError, l10n, Uri, workspace } from 'vscode';
import { pickModel } from '../models/model_picker';
import type { GenerateParams, RetryNodeParams, Run } from '../protocol';
import { budgetOf } from '../run/cost';
import type { JobStore } from '../run/job_store';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import type { LastAnswers } from './last_answers';
import { DEMO_FOLDER } from './run_finished';
import { type GenerateChoice, generateParams } from './run_params';
import { folderFor, pickFolder, pickGraph, pickRun } from './run_pickers';

/** Choices that a caller has made; the person is asked for the others. */
export interface GenerateRequest {
  readonly graph?: string;
  readonly out?: string;
  readonly model?: string;
}

/** Asks for missing choices, and starts a run. Returns the job; `undefined` if the person cancelled. */
export async function generate(
  sidecar: Sidecar,
  jobStore: JobStore,
  request: GenerateRequest,
  answers: LastAnswers,
): Promise<string | undefined> {
  const graph = request.graph === undefined ? await pickGraph(answers.graph) : await absolute(request.graph);
  if (graph === undefined) return undefined;
  const out =
    request.out === undefined
      ? await pickFolder(graph, answers.folderOf(graph.fsPath))
      : (await absolute(request.out, graph))?.fsPath;
  if (out === undefined) return undefined;
  const model = request.model ?? (await modelFor(sidecar, Uri.file(out)));
  if (model === undefined) return undefined;
  const chosen = { graph: graph.fsPath, out };
  const started = await start(sidecar, jobStore, model === AS_CONFIGURED ? chosen : { ...chosen, model });
  await answers.put(chosen.graph, out);
  return started;
}

/** Resumes a stopped run with the options it was started with. */
export async function resumeRun(
  sidecar: Sidecar,
  jobStore: JobStore,
  out?: string,
): Promise<string | undefined> {
  const title = l10n.t('Resume which run?');
  const resumable = (it: Run) => it.state === 'stopped' && it.kind === 'generate';
  const folder = out ?? (await pickRun(sidecar, resumable, title));
  if (folder === undefined) return undefined;
  return await requestRun(
    sidecar,
    jobStore,
    { out: folder, ...(await requestSettings('resume', folder)) },
    folder,
  );
}

/** Retries a node of a run with the options that the run was started with. */
export async function retryNode(sidecar: Sidecar, jobStore: JobStore, given: RetryNodeParams): Promise<void> {
  const params = { ...(await requestSettings('trellis/retryNode', given.out)), ...given };
  const { job } = await sidecar.request('trellis/retryNode', params);
  jobStore.started(job, given.out, budgetOf(params));
}

/** Generates the bundled graph from recorded replies, without an API key or network. */
export async function runDemo(
  sidecar: Sidecar,
  jobStore: JobStore,
  extension: Uri,
): Promise<string | undefined> {
  const base = await folderFor();
  if (base === undefined) return undefined;
  const folder = Uri.file(join(base, DEMO_FOLDER));
  const [graph, replies] = [Uri.joinPath(folder, 'rpg.json'), Uri.joinPath(folder, 'replies.jsonl')];
  await workspace.fs.createDirectory(folder);
  for (const file of [graph, replies]) await copyDemoFile(Uri.joinPath(extension, 'demo'), file);
  const choice = { graph: graph.fsPath, out: join(folder.fsPath, 'sprout') };
  return await start(sidecar, jobStore, { ...choice, model: `recorded:${replies.fsPath}` });
}

/** Choice of the model that `trellis.model`, trellis.toml or the environment names. */
const AS_CONFIGURED = '';

/** Returns the model for a folder: empty if one is configured, `undefined` if the person cancelled. */
export async function modelFor(sidecar: Sidecar, out: Uri): Promise<string | undefined> {
  const set = workspace.getConfiguration('trellis', out).get('model', '');
  return set === '' ? await pickModel(sidecar, '', out.fsPath) : AS_CONFIGURED;
}

async function start(sidecar: Sidecar, jobStore: JobStore, choice: GenerateChoice): Promise<string> {
  const params = generateParams(choice, await requestSettings('trellis/generate', choice.out));
  return await requestRun(sidecar, jobStore, params, choice.out);
}

async function requestRun(
  sidecar: Sidecar,
  jobStore: JobStore,
  params: GenerateParams,
  out: string,
): Promise<string> {
  const { job } = await sidecar.request('trellis/generate', params);
  jobStore.started(job, out, budgetOf(params));
  return job;
}

async function absolute(path: string, beside?: Uri): Promise<Uri | undefined> {
  if (isAbsolute(path)) return Uri.file(path);
  const base = await folderFor(beside);
  return base === undefined ? undefined : Uri.file(join(base, path));
}

/** Copies a file of the demo, unless it exists. */
async function copyDemoFile(from: Uri, to: Uri): Promise<void> {
  const name = to.path.slice(to.path.lastIndexOf('/') + 1);
  try {
    await workspace.fs.copy(Uri.joinPath(from, name), to, { overwrite: false });
  } catch (error) {
    if (!(error instanceof FileSystemError && error.code === 'FileExists')) throw error;
  }
}
