// Pickers for planning graphs, folders and runs.
import { isAbsolute, join, relative } from 'node:path';
import { l10n, type QuickPickItem, Uri, window, workspace } from 'vscode';
import { fileExists } from '../files/exists';
import type { Run } from '../protocol';
import { type Sidecar, TrellisError } from '../sidecar/api';
import { withoutLinks } from '../sidecar/link_free_text';
import * as notify from '../sidecar/notify';
import { EXCLUDED } from './plan_files';
import { mayBe } from './plan_kind';

/** Names of planning graphs. */
const PLANS = '**/*{rpg,graph,plan}*.json';
/** Maximal number of files in the picker. */
const MAX_FILES = 200;

/**
 * Returns the folder that relative paths refer to: the workspace folder of the file, else the only folder, else the
 * chosen one; `undefined` if the person cancelled.
 */
export async function folderFor(file?: Uri): Promise<string | undefined> {
  const own = file && workspace.getWorkspaceFolder(file);
  const [first, ...others] = workspace.workspaceFolders ?? [];
  if (first === undefined) {
    throw new TrellisError(l10n.t('no folder is open'), 64, l10n.t('open a folder first'), 'usage');
  }
  if (own !== undefined || others.length === 0) return (own ?? first).uri.fsPath;
  const chosen = await window.showWorkspaceFolderPick({ placeHolder: l10n.t('Which folder?') });
  return chosen?.uri.fsPath;
}

/**
 * Asks for a planning graph of the workspace, or any other file; `undefined` if the person cancelled.
 * @param last absolute path of the one that was chosen the last time, which comes first
 */
export async function pickGraph(last?: string): Promise<Uri | undefined> {
  const title = l10n.t('Generate a repository from which planning graph?');
  return await pickJson('graph', PLANS, title, l10n.t('Planning graphs'), l10n.t('Generate'), last);
}

/** Asks for a plan of the workspace to show; `undefined` if the person cancelled. */
export async function pickPlan(): Promise<Uri | undefined> {
  const [only, ...others] = await plansOfKind(await workspace.findFiles(PLANS, EXCLUDED, MAX_FILES), 'graph');
  if (only !== undefined && others.length === 0) return only;
  const title = l10n.t('Show which planning graph?');
  return await pickJson('graph', PLANS, title, l10n.t('Planning graphs'), l10n.t('Show'));
}

/**
 * Asks for a file of a kind whose path matches a pattern, or any other file; `filter` and `openLabel` are texts of the
 * dialog for the latter, and `last` is the path of a file that comes first.
 */
export async function pickJson(
  kind: 'graph' | 'tasks',
  pattern: string,
  title: string,
  filter: string,
  openLabel: string,
  last?: string,
): Promise<Uri | undefined> {
  const found = await plansOfKind(await workspace.findFiles(pattern, EXCLUDED, MAX_FILES), kind);
  const browse = { label: `$(folder-opened) ${l10n.t('Browse…')}` };
  // The last one may be anywhere, or gone.
  const lastUri = last === undefined ? undefined : Uri.file(last);
  const isThere = lastUri !== undefined && (await fileExists(lastUri));
  const first = isThere ? await plansOfKind([lastUri], kind) : [];
  const files = [...first, ...found.filter((it) => it.fsPath !== last)].map((uri) => ({
    label: workspace.asRelativePath(uri),
    description: uri === lastUri ? l10n.t('last used') : '',
    uri,
  }));
  const items: (QuickPickItem & { uri?: Uri })[] = [...files, browse];
  const chosen = await window.showQuickPick(items, { title });
  if (chosen !== browse) return chosen?.uri;
  return (await window.showOpenDialog({ filters: { [filter]: ['json'] }, openLabel }))?.[0];
}

/** Returns the readable files of a kind. */
async function plansOfKind(all: readonly Uri[], kind: 'graph' | 'tasks'): Promise<Uri[]> {
  const fits = all.map(async (it) => {
    const text = await workspace.fs.readFile(it).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => '',
    );
    return mayBe(kind, it.fsPath, text) ? [it] : [];
  });
  return (await Promise.all(fits)).flat();
}

/** Asks for the output folder, and proposes that of the last run; returns an absolute path. */
export async function pickFolder(graph: Uri, last?: string): Promise<string | undefined> {
  return await pickSiblingFolder(graph, 'output', l10n.t('Generate the repository in which folder?'), last);
}

/**
 * Asks for a folder; the last one, else the one with this name beside the file is proposed. Returns an absolute path.
 */
export async function pickSiblingFolder(
  file: Uri,
  name: string,
  title: string,
  last?: string,
): Promise<string | undefined> {
  const base = await folderFor(file);
  if (base === undefined) return undefined;
  // An empty path is the base itself.
  const beside = relative(base, last ?? join(file.fsPath, '..', name)) || '.';
  const chosen = await window.showInputBox({
    title,
    // The editor makes links in prompts as well, and folders may have any name.
    prompt: withoutLinks(
      l10n.t('Relative to {0}. If the folder has an earlier run, that run is resumed.', base),
    ),
    value: beside,
    valueSelection: [0, beside.length],
    validateInput: (it) => (it.trim() === '' ? l10n.t('Enter a folder name.') : undefined),
  });
  if (chosen === undefined) return undefined;
  return isAbsolute(chosen) ? chosen : join(base, chosen.trim());
}

/** Returns the folder of the only run that fits, or of the chosen one. */
export async function pickRun(
  sidecar: Sidecar,
  fits: (run: Run) => boolean,
  title: string,
): Promise<string | undefined> {
  const runs = (await sidecar.request('trellis/listRuns', {})).runs.filter(fits);
  if (runs.length === 0) {
    await notify.info(l10n.t('No matching run in the open folders.'));
    return undefined;
  }
  const items = runs.map((it) => ({
    label: workspace.asRelativePath(it.out),
    description: l10n.t('{0} of {1} nodes passed', it.passed, it.total),
    out: it.out,
  }));
  return items.length === 1 ? items[0]?.out : (await window.showQuickPick(items, { title }))?.out;
}
