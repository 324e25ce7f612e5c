// Picker for the model.
import { l10n, lm, type QuickPickItem, QuickPickItemKind, window } from 'vscode';
import type { UnlistedReason } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { modelItems } from './model_items';
import { PROVIDERS, type Provider, providerOf } from './providers';

interface ProviderItem extends QuickPickItem {
  readonly pick: () => Promise<string | undefined>;
}

/**
 * Asks for a model: those of the editor first, then providers with their models.
 * @param current model in use, which is offered first
 * @returns `provider:name` or `recorded:FILE`; empty if environment or trellis.toml decide; `undefined` if the person
 * cancelled
 */
export async function pickModel(
  sidecar: Sidecar,
  current: string,
  root: string | undefined,
): Promise<string | undefined> {
  const own = await editorItems(current);
  const items: ProviderItem[] = [
    ...(own.length === 0 ? [] : [heading(l10n.t('Models of VS Code, no API key')), ...own]),
    heading(l10n.t('Providers')),
    ...sorted(current).map((it) => providerItem(sidecar, it, current, root)),
    heading(l10n.t('More')),
    {
      label: l10n.t('As configured'),
      description: l10n.t('from trellis.toml, the environment, or the only API key'),
      pick: async () => '',
    },
    ...(own.length === 0 ? [lackingEditorModels()] : []),
    { label: l10n.t('Recorded replies'), description: 'recorded', pick: pickRecording },
  ];
  return await (await window.showQuickPick(items, { title: l10n.t('Which model?') }))?.pick();
}

function heading(label: string): ProviderItem {
  return { label, kind: QuickPickItemKind.Separator, pick: async () => undefined };
}

/** Returns the providers, that of the model in use first. */
function sorted(current: string): readonly Provider[] {
  const own = providerOf(current);
  return own === undefined ? PROVIDERS : [own, ...PROVIDERS.filter((it) => it !== own)];
}

/** Lists the models of other extensions; none in an editor without support for models. */
export async function editorModels(): Promise<readonly { id: string; name: string; vendor: string }[]> {
  return typeof lm?.selectChatModels === 'function' ? await lm.selectChatModels({}) : [];
}

function providerItem(
  sidecar: Sidecar,
  provider: Provider,
  current: string,
  root: string | undefined,
): ProviderItem {
  const { label, name } = provider;
  const pick = async () => await pickListed(sidecar, provider, current, root);
  const needs = provider.key === undefined ? l10n.t('{0}, no API key', name) : name;
  const description = providerOf(current) === provider ? l10n.t('in use: {0}', current) : needs;
  return { label, description, pick };
}

/** Asks for one of the models that the service lists, with their prices; for a name if there are none. */
async function pickListed(
  sidecar: Sidecar,
  provider: Provider,
  current: string,
  root: string | undefined,
): Promise<string | undefined> {
  const params = { provider: provider.name, ...(root === undefined ? {} : { root }) };
  const { providers } = await sidecar.request('trellis/listModels', params);
  const [listed] = providers;
  if (listed === undefined || listed.models.length === 0) return await enterName(provider);
  const title = l10n.t('Which {0} model?', provider.label);
  const placeHolder = listed.unlisted ? unlistedText(listed.unlisted) : '';
  const items = modelItems(listed, current, l10n.t);
  const chosen = await window.showQuickPick(items, { title, placeHolder, matchOnDescription: true });
  return chosen === undefined ? undefined : (chosen.model ?? (await enterName(provider)));
}

/** Explains that a list is not that of the service, and may lack models. */
function unlistedText({ kind }: UnlistedReason): string {
  return kind === 'noKey'
    ? l10n.t('Choose a model, then enter your API key.')
    : l10n.t('The service did not answer. These models are known.');
}

async function enterName(provider: Provider): Promise<string | undefined> {
  const chosen = await window.showInputBox({
    title: l10n.t('Which {0} model?', provider.label),
    prompt: l10n.t('Model name, for example {0}', provider.example),
    validateInput: (it) => (it.trim() === '' ? l10n.t('Enter a model name.') : undefined),
  });
  return chosen === undefined ? undefined : `${provider.name}:${chosen.trim()}`;
}

/** Makes the rows of the editor's own models. */
async function editorItems(current: string): Promise<ProviderItem[]> {
  const models = await editorModels();
  const row = (label: string, detail: string, model: string) => ({
    label,
    description: model === current ? l10n.t('{0} · in use', detail) : detail,
    pick: async () => model,
  });
  const any = row(l10n.t('Any'), l10n.t('the editor chooses'), 'editor');
  const own = models.map((it) => row(it.name, it.vendor, `editor:${it.id}`));
  return own.length === 0 ? [] : [...own, any];
}

/** Makes a row that says how to get models of the editor. */
function lackingEditorModels(): ProviderItem {
  const label = l10n.t('GitHub Copilot and other VS Code models');
  return { label, description: l10n.t('none installed'), pick: explainEditorModels };
}

async function explainEditorModels(): Promise<undefined> {
  await notify.warn(
    l10n.t(
      'No installed extension provides a model. Install one, such as GitHub Copilot, or choose another provider.',
    ),
  );
}

async function pickRecording(): Promise<string | undefined> {
  const filters = { [l10n.t('Recordings')]: ['jsonl'] };
  const chosen = await window.showOpenDialog({ filters, openLabel: l10n.t('Replay') });
  return chosen?.[0] === undefined ? undefined : `recorded:${chosen[0].fsPath}`;
}
