// API keys: stored in the editor's secret storage, passed to the sidecar as environment variables.
import { type ExtensionContext, l10n, window, workspace } from 'vscode';
import { confirmRestart } from '../run/confirm_restart';
import type { JobStore } from '../run/job_store';
import type { Client, Environment } from '../sidecar/client';
import { noKeys, type Provider, providersWithKey } from './providers';

const secretName = (variable: string) => `trellis.key.${variable}`;

/** Makes the variables with keys; none for a folder without trust, in which nothing is executed. */
export function keyEnvironment(context: ExtensionContext): Environment {
  return async () => {
    if (!workspace.isTrusted) return noKeys();
    const found = providersWithKey().map(
      async ({ key }) => [key, await context.secrets.get(secretName(key))] as const,
    );
    return Object.fromEntries((await Promise.all(found)).filter(([, it]) => it !== undefined));
  };
}

export async function hasKey(context: ExtensionContext, provider: Provider): Promise<boolean> {
  if (provider.key === undefined) return true;
  return (
    process.env[provider.key] !== undefined ||
    (await context.secrets.get(secretName(provider.key))) !== undefined
  );
}

/** Asks for a key and stores it; returns whether one was given. */
export async function setKey(
  context: ExtensionContext,
  client: Client,
  jobStore: JobStore,
  provider?: Provider,
): Promise<boolean> {
  const chosen = provider ?? (await pickKeyed(l10n.t('API key for which provider?')));
  if (chosen?.key === undefined) return false;
  const value = await window.showInputBox({
    title: l10n.t('API key for {0}', chosen.label),
    prompt: l10n.t("Kept in the editor's secret storage."),
    password: true,
    ignoreFocusOut: true,
    validateInput: (it) => (it.trim() === '' ? l10n.t('Paste the API key.') : undefined),
  });
  if (value === undefined) return false;
  await context.secrets.store(secretName(chosen.key), value.trim());
  await handOver(client, jobStore);
  return true;
}

/** Deletes a key. */
export async function removeKey(
  context: ExtensionContext,
  client: Client,
  jobStore: JobStore,
): Promise<void> {
  const chosen = await pickKeyed(l10n.t('Remove the API key for which provider?'));
  if (chosen?.key === undefined) return;
  await context.secrets.delete(secretName(chosen.key));
  await handOver(client, jobStore);
}

async function pickKeyed(title: string): Promise<Provider | undefined> {
  const items = providersWithKey().map((provider) => ({
    label: provider.label,
    description: provider.key,
    provider,
  }));
  return (await window.showQuickPick(items, { title }))?.provider;
}

/** Restarts the sidecar with the new keys, since a process keeps its variables; asks if a job is running. */
async function handOver(client: Client, jobStore: JobStore): Promise<void> {
  const text = l10n.t(
    'Your API key change takes effect when the server restarts. Restarting now stops the running work.',
  );
  if (await confirmRestart(jobStore, text)) await client.restart();
}
