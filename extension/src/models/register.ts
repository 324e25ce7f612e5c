// Commands about models, and the provider `editor`.
import {
  type ConfigurationTarget,
  commands,
  type Disposable,
  type ExtensionContext,
  l10n,
  type Uri,
  window,
  workspace,
} from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { errorText } from '../sidecar/errors';
import * as notify from '../sidecar/notify';
import { guarded, reportError, SOLVED } from '../sidecar/report_error';
import { configuredModel } from './configured_model';
import { registerEditorModel } from './editor_model';
import { hasKey, removeKey, setKey } from './keys';
import type { ModelTestResult } from './model_messages';
import { pickModel } from './model_picker';
import { providerOf } from './providers';
import { openModelSettings, savedText, saveModel } from './save_model';

/** Registers the commands; called before the sidecar is started. */
export function registerModels(context: ExtensionContext, client: Client, jobStore: JobStore): void {
  registerEditorModel(client);
  client.handleNotification<ModelTestResult>('trellis/modelTried', (it) => void reportTest(it));
  const command = (name: string, failure: string, work: () => Promise<unknown>): Disposable =>
    commands.registerCommand(name, guarded(failure, work));
  context.subscriptions.push(
    command('trellis.setApiKey', l10n.t('Could not set the API key'), () =>
      setKey(context, client, jobStore),
    ),
    command('trellis.removeApiKey', l10n.t('Could not remove the API key'), () =>
      removeKey(context, client, jobStore),
    ),
    commands.registerCommand('trellis.selectModel', async () => {
      let isChosen = false;
      const select = guarded(l10n.t('Could not select the model'), async () => {
        isChosen = await selectModel(context, client, jobStore);
      });
      await select();
      return isChosen ? SOLVED : undefined;
    }),
    command('trellis.tryModel', l10n.t('Could not test the model'), () =>
      testModel(client, configuredModel(currentFolder()?.fsPath).model ?? ''),
    ),
    command('trellis.setBudget', l10n.t('Could not open the settings'), async () => {
      await commands.executeCommand('workbench.action.openSettings', 'trellis.budget');
    }),
  );
}

/** Asks for a model, and for the API key of its provider if there is none; returns whether a model is chosen. */
async function selectModel(context: ExtensionContext, client: Client, jobStore: JobStore): Promise<boolean> {
  const root = currentFolder()?.fsPath;
  const model = await pickModel(client, configuredModel(root).model ?? '', root);
  if (model === undefined) return false;
  const target = await saveModel(model, currentFolder());
  const provider = providerOf(model);
  if (provider !== undefined && !(await hasKey(context, provider))) {
    if (!(await setKey(context, client, jobStore, provider))) return false;
  }
  announceSaved(client, model, target).catch((error) =>
    reportError(l10n.t('Could not test the model'), error),
  );
  return true;
}

async function announceSaved(client: Client, model: string, target: ConfigurationTarget): Promise<void> {
  const [attempt, change] = [l10n.t('Test Connection'), l10n.t('Change…')];
  const chosen = await notify.info(savedText(model, target), attempt, change);
  if (chosen === attempt) await testModel(client, model);
  if (chosen === change) await openModelSettings(target);
}

/** Returns the folder that a model is most likely chosen for. */
function currentFolder(): Uri | undefined {
  const file = window.activeTextEditor?.document.uri;
  const folder = file && workspace.getWorkspaceFolder(file);
  return (folder ?? workspace.workspaceFolders?.[0])?.uri;
}

/** Sends a short prompt to a model; `trellis/modelTried` reports the outcome. */
async function testModel(client: Client, model: string): Promise<void> {
  await client.send<null>('trellis/tryModel', model === '' ? {} : { model });
}

async function reportTest(tried: ModelTestResult): Promise<void> {
  const name = tried.model ?? l10n.t('The model');
  if (!tried.ok) {
    const why = errorText({ message: tried.error ?? '', hint: tried.hint, kind: undefined });
    await notify.error(l10n.t('{0} did not answer: {1}', name, why));
    return;
  }
  const by = tried.answeredBy ?? name;
  const text = l10n.t('{0} answered in {1} ms: {2}', by, tried.milliseconds, tried.reply ?? '');
  await notify.info(text);
}
