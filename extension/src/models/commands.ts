// The commands about models, and what the sidecar asks of the editor's.
import { commands, type Disposable, type ExtensionContext, l10n, workspace } from 'vscode';
import type { Board } from '../generation/board';
import type { Client } from '../sidecar/client';
import * as say from '../sidecar/say';
import { guarded } from '../sidecar/tell';
import { editorModel } from './editor_model';
import { hasKey, removeKey, setKey } from './keys';
import { selectModel } from './pick';
import { providerOf } from './providers';
import type { ModelTried } from './wire';

/** To be called before the sidecar is started. */
export function models(context: ExtensionContext, client: Client, board: Board): void {
  editorModel(client);
  client.hear<ModelTried>('trellis/modelTried', (it) => void sayTried(it));
  const failed = l10n.t('That did not work');
  const command = (name: string, work: () => Promise<unknown>): Disposable =>
    commands.registerCommand(name, guarded(failed, work));
  context.subscriptions.push(
    command('trellis.setApiKey', () => setKey(context, client, board)),
    command('trellis.removeApiKey', () => removeKey(context, client, board)),
    command('trellis.selectModel', () => choose(context, client, board)),
    command('trellis.tryModel', () => tryModel(client)),
    command('trellis.setBudget', async () => {
      await commands.executeCommand('workbench.action.openSettings', 'trellis.budget');
    }),
  );
}

/** A model of a service without a key is of no use, so that the key is asked for along with it. */
async function choose(context: ExtensionContext, client: Client, board: Board): Promise<void> {
  const model = await selectModel();
  if (model === undefined) return;
  const provider = providerOf(model);
  if (provider !== undefined && !(await hasKey(context, provider))) {
    if (!(await setKey(context, client, board, provider))) return;
  }
  const [said, attempt] = [l10n.t('Trellis asks {0} from now on.', model), l10n.t('Try It')];
  if ((await say.info(model === '' ? CONFIGURED() : said, attempt)) === attempt) {
    await tryModel(client);
  }
}

const CONFIGURED = () => l10n.t('Trellis asks the model that trellis.toml or the environment names.');

/** The answer is that it has begun; the outcome is told later. */
async function tryModel(client: Client): Promise<void> {
  const model = workspace.getConfiguration('trellis').get('model', '').trim();
  await client.send<null>('trellis/tryModel', model === '' ? {} : { model });
}

async function sayTried(tried: ModelTried): Promise<void> {
  const name = tried.model ?? l10n.t('The model');
  if (!tried.ok) {
    const why = [tried.error, tried.hint].filter((it) => it !== undefined).join('. ');
    await say.error(l10n.t('{0} did not answer: {1}', name, why));
    return;
  }
  const by = tried.answeredBy ?? name;
  const said = l10n.t('{0} answered after {1} ms: {2}', by, tried.milliseconds, tried.reply ?? '');
  await say.info(said);
}
