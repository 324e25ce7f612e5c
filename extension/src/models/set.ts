// The model that is set for a place.
import { Uri, workspace } from 'vscode';

/** As a parameter; none where environment and trellis.toml say it. */
export function modelSet(path: string | undefined): { model?: string } {
  const scope = path === undefined ? undefined : Uri.file(path);
  const model = workspace.getConfiguration('trellis', scope).get('model', '').trim();
  return model === '' ? {} : { model };
}
