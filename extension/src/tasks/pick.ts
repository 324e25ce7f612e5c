// What a repository is made of: a list of tasks, a stack, a folder; asked of the person, nothing where they change their mind.
import { l10n, Uri, window, workspace } from 'vscode';
import { modelFor } from '../generation/generate';
import type { TasksChoice } from '../generation/run_params';
import { folderFor, pickJson, pickSiblingFolder } from '../generation/run_pickers';
import type { StackEntry } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { taskList } from './list';

/** What a caller has chosen already. */
export type Asked = Partial<Pick<TasksChoice, 'file' | 'stack' | 'out'>>;

export async function pickTasks(sidecar: Sidecar, asked: Asked): Promise<TasksChoice | undefined> {
  const file = asked.file === undefined ? await pickList() : Uri.file(asked.file);
  if (file === undefined) return undefined;
  const stack = asked.stack ?? (await pickStack(sidecar, file));
  if (stack === undefined) return undefined;
  const title = l10n.t('Build the project in which folder?');
  const out = asked.out ?? (await pickSiblingFolder(file, 'project', title));
  if (out === undefined) return undefined;
  const model = await modelFor(Uri.file(out));
  if (model === undefined) return undefined;
  const choice = { file: file.fsPath, stack, out };
  return model === '' ? choice : { ...choice, model };
}

/** The one that is open, else one of the workspace. */
async function pickList(): Promise<Uri | undefined> {
  const open = window.activeTextEditor?.document;
  if (open?.uri.scheme === 'file' && taskList(open.getText()) !== undefined) {
    // The sidecar reads what is saved.
    return (await open.save()) ? open.uri : undefined;
  }
  const title = l10n.t('Build a project from which task list?');
  return await pickJson('tasks', '**/*task*.json', title, l10n.t('Task lists'), l10n.t('Build'));
}

/** The stack that the list names comes first. */
async function pickStack(sidecar: Sidecar, file: Uri): Promise<string | undefined> {
  const root = await folderFor(file);
  if (root === undefined) return undefined;
  const text = new TextDecoder().decode(await workspace.fs.readFile(file));
  const named = taskList(text)?.stack;
  const { stacks } = await sidecar.request('trellis/listStacks', { root });
  const items = stacks.map((it) => item(it, named)).sort((a, b) => Number(b.isNamed) - Number(a.isNamed));
  return (await window.showQuickPick(items, { title: l10n.t('Which tech stack?') }))?.name;
}

function item({ name, displayName, description }: StackEntry, named: string | undefined) {
  const isNamed = name === named;
  const more = isNamed ? l10n.t('{0}, named in the task list', name) : name;
  return { label: displayName, description: more, detail: description, name, isNamed };
}
