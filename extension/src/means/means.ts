// The one place where settings of the editor become parameters of the sidecar's methods.
import { Uri, workspace } from 'vscode';
import { interpreterOf } from './interpreter';
import { type MeansOf, type Method, paramsOf } from './params';
import type { Own } from './read_setting';

/**
 * What a method takes of the settings that count at a place.
 * @param path of a file or folder, absolute
 */
export async function means<M extends Method>(method: M, path: string): Promise<MeansOf<M>> {
  const place = Uri.file(path);
  const interpreter = await interpreterOf(place);
  return paramsOf(method, own(place), interpreter?.path);
}

/**
 * Settings that somebody set for what lies here; as delivered they would win over trellis.toml. What tests may have is for
 * the person to say alone.
 */
export function own(place: Uri): Own {
  const section = workspace.getConfiguration('trellis', place);
  return (name) => {
    const it = section.inspect(name);
    if (name.startsWith('allow.')) return it?.globalValue;
    return it?.workspaceFolderValue ?? it?.workspaceValue ?? it?.globalValue;
  };
}
