// Choosing graphs, folders and runs.
import { isAbsolute, join, relative } from 'node:path';
import { l10n, type QuickPickItem, type Uri, window, workspace } from 'vscode';
import type { Run } from '../protocol';
import { Refusal, type Sidecar } from '../sidecar/api';
import { plain } from '../sidecar/plain';
import * as say from '../sidecar/say';

/** So many graphs are listed at most. */
const MOST_GRAPHS = 200;

/**
 * The folder that relative paths are meant below: that of the file, else the only one, else the one that is chosen;
 * nothing where the person changed their mind.
 */
export async function folderFor(file?: Uri): Promise<string | undefined> {
  const own = file && workspace.getWorkspaceFolder(file);
  const [first, ...others] = workspace.workspaceFolders ?? [];
  if (first === undefined) {
    throw new Refusal(l10n.t('no folder is open'), 64, l10n.t('open one: runs grow in a folder'), 'usage');
  }
  if (own !== undefined || others.length === 0) return (own ?? first).uri.fsPath;
  const chosen = await window.showWorkspaceFolderPick({ placeHolder: l10n.t('In which folder?') });
  return chosen?.uri.fsPath;
}

/** A planning graph of the workspace, or any other file; nothing where the person changed their mind. */
export async function pickGraph(): Promise<Uri | undefined> {
  const found = await workspace.findFiles('**/rpg*.json', '**/{node_modules,.trellis}/**', MOST_GRAPHS);
  const browse = { label: `$(folder-opened) ${l10n.t('Browse…')}` };
  const graphs = found.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
  const items: (QuickPickItem & { uri?: Uri })[] = [...graphs, browse];
  const chosen = await window.showQuickPick(items, { title: l10n.t('Grow a repository from which graph?') });
  if (chosen !== browse) return chosen?.uri;
  const filters = { [l10n.t('Planning graphs')]: ['json'] };
  return (await window.showOpenDialog({ filters, openLabel: l10n.t('Grow') }))?.[0];
}

/** Where to grow it, absolute. */
export async function pickFolder(graph: Uri): Promise<string | undefined> {
  const base = await folderFor(graph);
  if (base === undefined) return undefined;
  const beside = relative(base, join(graph.fsPath, '..', 'grown'));
  const chosen = await window.showInputBox({
    title: l10n.t('Grow the repository in which folder?'),
    // Links in a prompt would be opened as well, and folders are called what one likes.
    prompt: plain(
      l10n.t('Relative to {0}. A folder with an earlier run goes on from where it stopped.', base),
    ),
    value: beside,
    valueSelection: [0, beside.length],
    validateInput: (it) => (it.trim() === '' ? l10n.t('Name a folder.') : undefined),
  });
  if (chosen === undefined) return undefined;
  return isAbsolute(chosen) ? chosen : join(base, chosen.trim());
}

/** The folder of a run, the only one that fits or the one chosen. */
export async function pickRun(
  sidecar: Sidecar,
  fits: (run: Run) => boolean,
  title: string,
): Promise<string | undefined> {
  const runs = (await sidecar.request('trellis/listRuns', {})).runs.filter(fits);
  if (runs.length === 0) {
    await say.info(l10n.t('No such run was found in the open folders.'));
    return undefined;
  }
  const items = runs.map((it) => ({
    label: workspace.asRelativePath(it.out),
    description: l10n.t('{0} of {1} nodes passed', it.passed, it.total),
    out: it.out,
  }));
  return items.length === 1 ? items[0]?.out : (await window.showQuickPick(items, { title }))?.out;
}
