// Entry point: connects the folders.
import { commands, type ExtensionContext, l10n, window } from 'vscode';
import { registerApproval } from './approval/register';
import { registerDrafts } from './draft/register';
import { registerGeneration } from './generation/register';
import { createStatusBar } from './generation/status_bar';
import { keyEnvironment } from './models/keys';
import { registerModels } from './models/register';
import { registerPanel } from './panel/register';
import { confirmRestart } from './run/confirm_restart';
import { RunStore } from './run/run_store';
import { setInterpreterLog } from './settings/interpreter';
import { Client } from './sidecar/client';
import { offerMcpServer } from './sidecar/mcp_server';
import { guarded } from './sidecar/report_error';
import { registerTasks } from './tasks/register';
import { registerTesting } from './testing/register';

let client: Client | undefined;

export function activate(context: ExtensionContext): void {
  const output = window.createOutputChannel('Trellis', { log: true });
  const sidecar = new Client(context, output, keyEnvironment(context));
  client = sidecar;
  setInterpreterLog((it) => output.warn(it));
  const restart = guarded(l10n.t('Could not restart the server'), () => sidecar.restart());
  context.subscriptions.push(
    output,
    commands.registerCommand('trellis.restartSidecar', restart),
    commands.registerCommand('trellis.showOutput', () => output.show()),
  );
  const ownVersion = String(context.extension.packageJSON.version);
  context.subscriptions.push(...offerMcpServer(() => sidecar.program, ownVersion));
  const jobStore = registerGeneration(context, sidecar);
  const runs = new RunStore(sidecar, jobStore);
  context.subscriptions.push(runs, ...createStatusBar(sidecar, jobStore, runs));
  registerModels(context, sidecar, jobStore);
  context.subscriptions.push(registerTasks(sidecar, jobStore));
  registerDrafts(context, sidecar);
  const { failing, previews } = registerTesting(context, sidecar, jobStore);
  registerPanel(context, sidecar, jobStore, runs);
  registerApproval(context, sidecar, jobStore, failing, previews);
  const moved = l10n.t(
    'The setting "trellis.path" takes effect when the server restarts. Restarting now stops the running work.',
  );
  // Last, so that all listeners are registered before the first event.
  context.subscriptions.push(...sidecar.begin(() => confirmRestart(jobStore, moved)));
}

export async function deactivate(): Promise<void> {
  await client?.end();
}
