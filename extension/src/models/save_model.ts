// The setting `trellis.model`: changed in the user settings, unless the workspace has a value.
import { ConfigurationTarget, commands, l10n, type Uri, workspace } from 'vscode';

/** Values of a setting by level; `undefined` without one. */
export interface SettingLevels {
  readonly globalValue?: string;
  readonly workspaceValue?: string;
  readonly workspaceFolderValue?: string;
}

/** Returns the level whose value applies, so that a change there has an effect. */
export function targetOf(levels: SettingLevels, hasSeveralFolders: boolean): ConfigurationTarget {
  const { workspaceValue, workspaceFolderValue } = levels;
  const { Global, Workspace, WorkspaceFolder } = ConfigurationTarget;
  // The settings of a single folder are those of the workspace.
  if (workspaceFolderValue !== undefined) return hasSeveralFolders ? WorkspaceFolder : Workspace;
  return workspaceValue === undefined ? Global : Workspace;
}

/**
 * Saves a model in the settings; returns the level.
 * @param model empty if environment or trellis.toml decide
 * @param place file or folder whose settings apply
 */
export async function saveModel(model: string, place: Uri | undefined): Promise<ConfigurationTarget> {
  const section = workspace.getConfiguration('trellis', place);
  const levels: SettingLevels = section.inspect<string>('model') ?? {};
  const target = targetOf(levels, workspace.workspaceFile !== undefined);
  const isOuter = target !== ConfigurationTarget.Global && levels.globalValue !== undefined;
  // Without a value in the workspace, the person's own would apply.
  await section.update('model', model === '' && !isOuter ? undefined : model, target);
  return target;
}

/** Describes the saved model and its level. */
export function savedText(model: string, target: ConfigurationTarget): string {
  const name = model === '' ? l10n.t('the model from trellis.toml or the environment') : model;
  if (target === ConfigurationTarget.Global) return l10n.t('Model set to {0} in your user settings.', name);
  if (target === ConfigurationTarget.Workspace) return l10n.t('Model set to {0} for this workspace.', name);
  return l10n.t('Model set to {0} for this folder.', name);
}

/** Opens the settings of a level. */
export async function openModelSettings(target: ConfigurationTarget): Promise<void> {
  const isOwn = target === ConfigurationTarget.Global;
  const command = isOwn ? 'workbench.action.openSettings' : 'workbench.action.openWorkspaceSettings';
  await commands.executeCommand(command, isOwn ? 'trellis.model' : { query: 'trellis.model' });
}
