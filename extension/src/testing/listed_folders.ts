// Open folders whose tests are listed in the Testing view.
import { type ConfigurationChangeEvent, type Uri, workspace } from 'vscode';

/** Returns the paths of the listed folders. */
export function listedFolders(): readonly string[] {
  return (workspace.workspaceFolders ?? [])
    .map((it) => it.uri)
    .flatMap((it) => (isListed(it) ? [it.fsPath] : []));
}

/** Returns whether a change of settings may list other folders. */
export function concernsListing(change: ConfigurationChangeEvent): boolean {
  return ['trellis.testing.enabled', 'python.testing'].some((it) => change.affectsConfiguration(it));
}

/** Unless the person decides, a folder is not listed if the Python extension lists its tests. */
function isListed(folder: Uri): boolean {
  const setting = workspace.getConfiguration('trellis', folder).get('testing.enabled', 'auto');
  if (setting !== 'auto') return setting !== 'off';
  const python = workspace.getConfiguration('python.testing', folder);
  return !['pytestEnabled', 'unittestEnabled'].some((it) => python.get(it, false));
}
