// Picker for the model.
import { l10n, lm, type QuickPickItem, window } from 'vscode';
import * as notify from '../sidecar/notify';
import { PROVIDERS, type Provider } from './providers';

interface ProviderItem extends QuickPickItem {
  readonly names: () => Promise<string | undefined>;
}

/**
 * Asks for a model.
 * @returns `provider:name` or `recorded:FILE`; empty if environment or trellis.toml decide; `undefined` if the person
 * cancelled
 */
export async function pickModel(): Promise<string | undefined> {
  const kinds: ProviderItem[] = [
    {
      label: l10n.t('As configured'),
      description: l10n.t('from trellis.toml, the environment, or the only API key'),
      names: async () => '',
    },
    {
      label: l10n.t('GitHub Copilot and other VS Code models'),
      description: l10n.t('editor, no API key'),
      names: pickEditorModel,
    },
    ...PROVIDERS.map(providerItem),
    { label: l10n.t('Recorded replies'), description: 'recorded', names: pickRecording },
  ];
  return await (await window.showQuickPick(kinds, { title: l10n.t('Which model?') }))?.names();
}

/** Lists the models of other extensions; none in an editor without support for models. */
export async function editorModels(): Promise<readonly { id: string; name: string; vendor: string }[]> {
  return typeof lm?.selectChatModels === 'function' ? await lm.selectChatModels({}) : [];
}

function providerItem(provider: Provider): ProviderItem {
  const names = async () => {
    const chosen = await window.showInputBox({
      title: l10n.t('Which {0} model?', provider.label),
      prompt: l10n.t('Model name, for example {0}', provider.example),
      validateInput: (it) => (it.trim() === '' ? l10n.t('Enter a model name.') : undefined),
    });
    return chosen === undefined ? undefined : `${provider.name}:${chosen.trim()}`;
  };
  return { label: provider.label, description: provider.name, names };
}

async function pickEditorModel(): Promise<string | undefined> {
  const models = await editorModels();
  if (models.length === 0) {
    await notify.warn(
      l10n.t(
        'No installed extension provides a model. Install one, such as GitHub Copilot, or choose another provider.',
      ),
    );
    return undefined;
  }
  const any = { label: l10n.t('Any'), description: l10n.t('the editor chooses'), model: 'editor' };
  const items = models.map((it) => ({ label: it.name, description: it.vendor, model: `editor:${it.id}` }));
  return (await window.showQuickPick([any, ...items], { title: l10n.t('Which model?') }))?.model;
}

async function pickRecording(): Promise<string | undefined> {
  const filters = { [l10n.t('Recordings')]: ['jsonl'] };
  const chosen = await window.showOpenDialog({ filters, openLabel: l10n.t('Replay') });
  return chosen?.[0] === undefined ? undefined : `recorded:${chosen[0].fsPath}`;
}
