// Pickers for a task list, its stack and its folder; `undefined` if the person cancelled.
import { l10n, Uri, window, workspace } from 'vscode';
import { modelFor } from '../generation/generate';
import type { TasksChoice } from '../generation/run_params';
import { folderFor, pickJson, pickSiblingFolder } from '../generation/run_pickers';
import type { StackEntry } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { parseTaskList } from './task_list';

/** Choices that a caller has made. */
export type TasksRequest = Partial<TasksChoice>;

export async function pickTasks(sidecar: Sidecar, request: TasksRequest): Promise<TasksChoice | undefined> {
  const file = request.file === undefined ? await pickTaskList() : Uri.file(request.file);
  if (file === undefined) return undefined;
  const stack = request.stack ?? (await pickStack(sidecar, file));
  if (stack === undefined) return undefined;
  const title = l10n.t('Build the project in which folder?');
  const out = request.out ?? (await pickSiblingFolder(file, 'project', title));
  if (out === undefined) return undefined;
  const model = request.model ?? (await modelFor(sidecar, Uri.file(out)));
  if (model === undefined) return undefined;
  const choice = { file: file.fsPath, stack, out };
  return model === '' ? choice : { ...choice, model };
}

/** Returns the task list in the active editor, else asks for one of the workspace. */
async function pickTaskList(): Promise<Uri | undefined> {
  const open = window.activeTextEditor?.document;
  if (open?.uri.scheme === 'file' && parseTaskList(open.getText()) !== undefined) {
    // The sidecar reads the saved text.
    return (await open.save()) ? open.uri : undefined;
  }
  const title = l10n.t('Build a project from which task list?');
  return await pickJson('tasks', '**/*task*.json', title, l10n.t('Task lists'), l10n.t('Build'));
}

/** Asks for the tech stack; the one that the list names comes first. */
async function pickStack(sidecar: Sidecar, file: Uri): Promise<string | undefined> {
  const root = await folderFor(file);
  if (root === undefined) return undefined;
  const text = new TextDecoder().decode(await workspace.fs.readFile(file));
  const named = parseTaskList(text)?.stack;
  const { stacks } = await sidecar.request('trellis/listStacks', { root });
  const items = stacks
    .map((it) => stackItem(it, named))
    .sort((a, b) => Number(b.isNamed) - Number(a.isNamed));
  return (await window.showQuickPick(items, { title: l10n.t('Which tech stack?') }))?.name;
}

function stackItem({ name, displayName, description }: StackEntry, named: string | undefined) {
  const isNamed = name === named;
  const more = isNamed ? l10n.t('{0}, named in the task list', name) : name;
  return { label: displayName, description: more, detail: description, name, isNamed };
}
