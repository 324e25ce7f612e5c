// Keys: kept by the editor's secret storage, handed to the sidecar as variables of its process, shown to nobody.
import { type ExtensionContext, l10n, window, workspace } from 'vscode';
import { confirmRestart } from '../run/confirm_restart';
import type { JobStore } from '../run/job_store';
import type { Client, Environment } from '../sidecar/client';
import { keyed, noKeys, type Provider } from './providers';

const name = (variable: string) => `trellis.key.${variable}`;

/** The variables that hold keys. A folder that is not trusted gets none: nothing of it is executed. */
export function keysOf(context: ExtensionContext): Environment {
  return async () => {
    if (!workspace.isTrusted) return noKeys();
    const found = keyed().map(async ({ key }) => [key, await context.secrets.get(name(key))] as const);
    return Object.fromEntries((await Promise.all(found)).filter(([, it]) => it !== undefined));
  };
}

export async function hasKey(context: ExtensionContext, provider: Provider): Promise<boolean> {
  if (provider.key === undefined) return true;
  return (
    process.env[provider.key] !== undefined || (await context.secrets.get(name(provider.key))) !== undefined
  );
}

/** Asks for a key and keeps it. Says whether one was given. */
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
  await context.secrets.store(name(chosen.key), value.trim());
  await handOver(client, jobStore);
  return true;
}

/** Forgets a key. */
export async function removeKey(
  context: ExtensionContext,
  client: Client,
  jobStore: JobStore,
): Promise<void> {
  const chosen = await pickKeyed(l10n.t('Remove the API key for which provider?'));
  if (chosen?.key === undefined) return;
  await context.secrets.delete(name(chosen.key));
  await handOver(client, jobStore);
}

async function pickKeyed(title: string): Promise<Provider | undefined> {
  const items = keyed().map((provider) => ({ label: provider.label, description: provider.key, provider }));
  return (await window.showQuickPick(items, { title }))?.provider;
}

/** A process has the variables that it was started with; work under way is not cut off without leave. */
async function handOver(client: Client, jobStore: JobStore): Promise<void> {
  const said = l10n.t(
    'Your API key change takes effect when the server restarts. Restarting now stops the running work.',
  );
  if (await confirmRestart(jobStore, said)) await client.restart();
}
