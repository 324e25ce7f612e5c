// The commands about runs.
import { commands, type Disposable, type ExtensionContext, l10n, Uri } from 'vscode';
import { Board } from '../run/board';
import type { Sidecar } from '../sidecar/api';
import { guarded, reportError } from '../sidecar/report_error';
import { control, showActions } from './actions';
import { type Asked, demo, generate, resumeRun } from './generate';
import { texts } from './given';
import { offers } from './offers';
import { PlanFiles } from './plan_files';
import { sayEnd, showReport } from './report';

/** Jobs, and every command about runs. */
export function generation(context: ExtensionContext, sidecar: Sidecar): Board {
  const board = new Board(sidecar);
  const notStarted = l10n.t('Could not start the run');
  const made: Disposable[] = [
    board,
    new PlanFiles(),
    offers(sidecar, board),
    command('trellis.generate', notStarted, (it: unknown) => generate(sidecar, board, asked(it))),
    command('trellis.resumeRun', notStarted, (it: unknown) => resumeRun(sidecar, board, folder(it))),
    command('trellis.demo', notStarted, () => demo(sidecar, board, context.extensionUri)),
    command('trellis.actions', l10n.t('Could not show the menu'), () => showActions(sidecar, board)),
    command('trellis.pauseJob', l10n.t('Could not pause the run'), () =>
      control(sidecar, board, 'trellis/pauseJob'),
    ),
    command('trellis.resumeJob', l10n.t('Could not resume the run'), () =>
      control(sidecar, board, 'trellis/resumeJob'),
    ),
    command('trellis.cancelJob', l10n.t('Could not cancel the run'), () =>
      control(sidecar, board, 'trellis/cancelJob'),
    ),
    command('trellis.showReport', l10n.t('Could not show the report'), (it: unknown) =>
      showReport(sidecar, folder(it)),
    ),
    command('trellis.getStarted', l10n.t('Could not open the walkthrough'), async () => {
      const walkthrough = `${context.extension.id}#start`;
      await commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false);
    }),
    board.onEnd((job) => {
      sayEnd(sidecar, board, job).catch((error) =>
        reportError(l10n.t('Could not show how the run ended'), error),
      );
    }),
  ];
  context.subscriptions.push(...made);
  return board;
}

function command(name: string, doing: string, work: (given: unknown) => Promise<unknown>): Disposable {
  return commands.registerCommand(name, guarded(doing, work));
}

/** A file of the explorer, or what a caller chose. */
function asked(given: unknown): Asked {
  if (given instanceof Uri) return { graph: given.fsPath };
  return texts(given, 'graph', 'out', 'model');
}

function folder(given: unknown): string | undefined {
  if (given instanceof Uri) return given.fsPath;
  return typeof given === 'string' ? given : undefined;
}
