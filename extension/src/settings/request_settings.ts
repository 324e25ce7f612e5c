// Settings of the editor as parameters of the sidecar's methods.
import { Uri, workspace } from 'vscode';
import { interpreterOf } from './interpreter';
import type { ReadSetting } from './read_setting';
import { type MethodWithSettings, type SettingsOf, settingsFor } from './settings_of_method';

/**
 * Returns the parameters of a method that are settings.
 * @param path of a file or folder whose settings apply, absolute
 */
export async function requestSettings<M extends MethodWithSettings>(
  method: M,
  path: string,
): Promise<SettingsOf<M>> {
  const place = Uri.file(path);
  const interpreter = await interpreterOf(place);
  return settingsFor(method, settingReader(place), interpreter?.path);
}

/**
 * Makes a reader of settings that somebody set; defaults would override trellis.toml. Permissions of tests are read
 * from the person's own settings only.
 */
export function settingReader(place: Uri): ReadSetting {
  const section = workspace.getConfiguration('trellis', place);
  return (name) => {
    const it = section.inspect(name);
    if (name.startsWith('allow.')) return it?.globalValue;
    return it?.workspaceFolderValue ?? it?.workspaceValue ?? it?.globalValue;
  };
}
