// Commands about runs.
import { commands, type Disposable, type ExtensionContext, l10n, Uri } from 'vscode';
import { JobStore } from '../run/job_store';
import type { Sidecar } from '../sidecar/api';
import { guarded, reportError } from '../sidecar/report_error';
import { controlJob, showActionsMenu } from './actions_menu';
import { stringFields } from './command_arguments';
import { type GenerateRequest, generate, resumeRun, runDemo } from './generate';
import { LastAnswers } from './last_answers';
import { OpenRuns } from './open_runs';
import { PlanDiagnostics } from './plan_diagnostics';
import { PlanFiles } from './plan_files';
import { reportRunFinished, showReport } from './report';
import { offerResumesAtStart } from './resume_offers';

/** Registers the commands, and makes the store of the jobs. */
export function registerGeneration(context: ExtensionContext, sidecar: Sidecar): JobStore {
  const jobStore = new JobStore(sidecar);
  const notStarted = l10n.t('Could not start the run');
  const openRuns = new OpenRuns(context.workspaceState);
  const answers = new LastAnswers(context.workspaceState);
  const made: Disposable[] = [
    jobStore,
    new PlanFiles(),
    new PlanDiagnostics(sidecar),
    ...openRuns.follow(sidecar, jobStore),
    offerResumesAtStart(sidecar, jobStore, openRuns.interrupted),
    command('trellis.generate', notStarted, (it: unknown) =>
      generate(sidecar, jobStore, requestOf(it), answers),
    ),
    command('trellis.resumeRun', notStarted, (it: unknown) => resumeRun(sidecar, jobStore, folderOf(it))),
    command('trellis.demo', notStarted, () => runDemo(sidecar, jobStore, context.extensionUri)),
    command('trellis.actions', l10n.t('Could not show the menu'), () => showActionsMenu(sidecar, jobStore)),
    command('trellis.pauseJob', l10n.t('Could not pause the run'), () =>
      controlJob(jobStore, 'trellis/pauseJob'),
    ),
    command('trellis.resumeJob', l10n.t('Could not resume the run'), () =>
      controlJob(jobStore, 'trellis/resumeJob'),
    ),
    command('trellis.cancelJob', l10n.t('Could not cancel the run'), () =>
      controlJob(jobStore, 'trellis/cancelJob'),
    ),
    command('trellis.showReport', l10n.t('Could not show the report'), (it: unknown) =>
      showReport(sidecar, folderOf(it)),
    ),
    command('trellis.getStarted', l10n.t('Could not open the walkthrough'), async () => {
      const walkthrough = `${context.extension.id}#start`;
      await commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false);
    }),
    jobStore.onEnd((job) => {
      reportRunFinished(sidecar, job).catch((error) =>
        reportError(l10n.t('Could not show how the run ended'), error),
      );
    }),
  ];
  context.subscriptions.push(...made);
  return jobStore;
}

function command(name: string, failure: string, work: (argument: unknown) => Promise<unknown>): Disposable {
  return commands.registerCommand(name, guarded(failure, work));
}

/** Reads the argument of `trellis.generate`: a file of the explorer, or choices of a caller. */
function requestOf(argument: unknown): GenerateRequest {
  if (argument instanceof Uri) return { graph: argument.fsPath };
  return stringFields(argument, 'graph', 'out', 'model');
}

function folderOf(argument: unknown): string | undefined {
  if (argument instanceof Uri) return argument.fsPath;
  return typeof argument === 'string' ? argument : undefined;
}
