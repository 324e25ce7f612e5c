// The model in the settings.
import { Uri, workspace } from 'vscode';

/** Returns the model as a parameter; none if environment or trellis.toml decide. */
export function configuredModel(path: string | undefined): { model?: string } {
  const scope = path === undefined ? undefined : Uri.file(path);
  const model = workspace.getConfiguration('trellis', scope).get('model', '').trim();
  return model === '' ? {} : { model };
}
