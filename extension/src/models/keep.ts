// Where the choice of a model is kept: it is the person's own, unless a workspace has one of its own already.
import { ConfigurationTarget, commands, l10n, type Uri, workspace } from 'vscode';

/** What each level of settings says; what says nothing is `undefined`. */
export interface Levels {
  readonly globalValue?: string;
  readonly workspaceValue?: string;
  readonly workspaceFolderValue?: string;
}

/** The level whose value counts, so that a choice that is kept there has an effect. */
export function targetOf(levels: Levels, hasSeveralFolders: boolean): ConfigurationTarget {
  const { workspaceValue, workspaceFolderValue } = levels;
  const { Global, Workspace, WorkspaceFolder } = ConfigurationTarget;
  // Where one folder is all there is, its settings are those of the workspace.
  if (workspaceFolderValue !== undefined) return hasSeveralFolders ? WorkspaceFolder : Workspace;
  return workspaceValue === undefined ? Global : Workspace;
}

/**
 * Keeps a model as the setting, and gives the level.
 * @param model empty where environment and trellis.toml say it
 * @param place a file or folder that it is meant for
 */
export async function keepModel(model: string, place: Uri | undefined): Promise<ConfigurationTarget> {
  const section = workspace.getConfiguration('trellis', place);
  const levels: Levels = section.inspect<string>('model') ?? {};
  const target = targetOf(levels, workspace.workspaceFile !== undefined);
  const isOuter = target !== ConfigurationTarget.Global && levels.globalValue !== undefined;
  // What is cleared in a workspace would give way to the person's own.
  await section.update('model', model === '' && !isOuter ? undefined : model, target);
  return target;
}

/** Says what is asked from now on, and for whom. */
export function keptWords(model: string, target: ConfigurationTarget): string {
  const name = model === '' ? l10n.t('the model from trellis.toml or the environment') : model;
  if (target === ConfigurationTarget.Global) return l10n.t('Model set to {0} in your user settings.', name);
  if (target === ConfigurationTarget.Workspace) return l10n.t('Model set to {0} for this workspace.', name);
  return l10n.t('Model set to {0} for this folder.', name);
}

/** Opens the settings in which the choice is kept. */
export async function showKept(target: ConfigurationTarget): Promise<void> {
  const isOwn = target === ConfigurationTarget.Global;
  const command = isOwn ? 'workbench.action.openSettings' : 'workbench.action.openWorkspaceSettings';
  await commands.executeCommand(command, isOwn ? 'trellis.model' : { query: 'trellis.model' });
}
