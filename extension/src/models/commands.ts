// The commands about models, and what the sidecar asks of the editor's.
import { commands, type Disposable, type ExtensionContext, l10n, type Uri, window, workspace } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { errorText } from '../sidecar/errors';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { editorModel } from './editor_model';
import { keepModel, keptWords, showKept } from './keep';
import { hasKey, removeKey, setKey } from './keys';
import { pickModel } from './pick';
import { providerOf } from './providers';
import { modelSet } from './set';
import type { ModelTried } from './wire';

/** To be called before the sidecar is started. */
export function models(context: ExtensionContext, client: Client, jobStore: JobStore): void {
  editorModel(client);
  client.handleNotification<ModelTried>('trellis/modelTried', (it) => void sayTried(it));
  const command = (name: string, doing: string, work: () => Promise<unknown>): Disposable =>
    commands.registerCommand(name, guarded(doing, work));
  context.subscriptions.push(
    command('trellis.setApiKey', l10n.t('Could not set the API key'), () =>
      setKey(context, client, jobStore),
    ),
    command('trellis.removeApiKey', l10n.t('Could not remove the API key'), () =>
      removeKey(context, client, jobStore),
    ),
    command('trellis.selectModel', l10n.t('Could not select the model'), () =>
      choose(context, client, jobStore),
    ),
    command('trellis.tryModel', l10n.t('Could not test the model'), () =>
      tryModel(client, modelSet(place()?.fsPath).model ?? ''),
    ),
    command('trellis.setBudget', l10n.t('Could not open the settings'), async () => {
      await commands.executeCommand('workbench.action.openSettings', 'trellis.budget');
    }),
  );
}

/** A model of a service without a key is of no use, so that the key is asked for along with it. */
async function choose(context: ExtensionContext, client: Client, jobStore: JobStore): Promise<void> {
  const model = await pickModel();
  if (model === undefined) return;
  const target = await keepModel(model, place());
  const provider = providerOf(model);
  if (provider !== undefined && !(await hasKey(context, provider))) {
    if (!(await setKey(context, client, jobStore, provider))) return;
  }
  const [attempt, change] = [l10n.t('Test Connection'), l10n.t('Change…')];
  const chosen = await notify.info(keptWords(model, target), attempt, change);
  if (chosen === attempt) await tryModel(client, model);
  if (chosen === change) await showKept(target);
}

/** What a person most likely chooses a model for. */
function place(): Uri | undefined {
  const file = window.activeTextEditor?.document.uri;
  const folder = file && workspace.getWorkspaceFolder(file);
  return (folder ?? workspace.workspaceFolders?.[0])?.uri;
}

/** Asks a model something small; the answer is that it has begun, the outcome is told later. */
async function tryModel(client: Client, model: string): Promise<void> {
  await client.send<null>('trellis/tryModel', model === '' ? {} : { model });
}

async function sayTried(tried: ModelTried): Promise<void> {
  const name = tried.model ?? l10n.t('The model');
  if (!tried.ok) {
    const why = errorText({ message: tried.error ?? '', hint: tried.hint, kind: undefined });
    await notify.error(l10n.t('{0} did not answer: {1}', name, why));
    return;
  }
  const by = tried.answeredBy ?? name;
  const said = l10n.t('{0} answered in {1} ms: {2}', by, tried.milliseconds, tried.reply ?? '');
  await notify.info(said);
}
