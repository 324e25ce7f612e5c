// Where everything is put together, and nothing else is done.
import { commands, type ExtensionContext, l10n, window } from 'vscode';
import { approval } from './approval/room';
import { generation } from './generation/commands';
import { statusBar } from './generation/status_bar';
import { interpreters } from './means/interpreter';
import { models } from './models/commands';
import { keysOf } from './models/keys';
import { nodes } from './panel/room';
import { mayRestart } from './run/leave';
import { Runs } from './run/runs';
import { Client } from './sidecar/client';
import { guarded } from './sidecar/report_error';
import { registerActionLinks } from './sidecar/transient_notification';
import { tasks } from './tasks/tasks';
import { testing } from './testing/room';

let client: Client | undefined;

export function activate(context: ExtensionContext): void {
  const output = window.createOutputChannel('Trellis', { log: true });
  const sidecar = new Client(context, output, keysOf(context));
  client = sidecar;
  interpreters((it) => output.warn(it));
  const restart = guarded(l10n.t('Could not restart the server'), () => sidecar.restart());
  context.subscriptions.push(
    output,
    registerActionLinks(),
    commands.registerCommand('trellis.restartSidecar', restart),
    commands.registerCommand('trellis.showOutput', () => output.show()),
  );
  const board = generation(context, sidecar);
  const runs = new Runs(sidecar, board);
  context.subscriptions.push(runs, ...statusBar(sidecar, board, runs));
  models(context, sidecar, board);
  context.subscriptions.push(tasks(sidecar, board));
  testing(context, sidecar, board);
  nodes(context, sidecar, board, runs);
  approval(context, sidecar, board);
  const moved = l10n.t(
    'The setting "trellis.path" takes effect when the server restarts. Restarting now stops the running work.',
  );
  // Last, so that everybody hears its first words.
  context.subscriptions.push(...sidecar.begin(() => mayRestart(board, moved)));
}

export async function deactivate(): Promise<void> {
  await client?.end();
}
