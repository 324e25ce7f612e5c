// What can be done about the open run, and about runs at all: the list behind the status bar.
import { commands, l10n, type QuickPickItem, window } from 'vscode';
import { type Budget, costOf, costWords } from '../run/cost';
import type { Sidecar } from '../sidecar/api';
import * as say from '../sidecar/say';
import type { Board } from './board';
import { current, isOfTasks, type Job } from './jobs';

interface Action extends QuickPickItem {
  readonly does: () => Promise<unknown>;
}

export async function showActions(sidecar: Sidecar, board: Board): Promise<void> {
  const run = current(board.jobs);
  const items = run === undefined ? ofNone(sidecar) : ofRun(sidecar, run);
  const cost = run?.out === undefined ? undefined : await costLine(sidecar, run.out, run.budget);
  const placeHolder = [run?.title, cost].filter((it) => it !== undefined).join(' · ');
  const chosen = await window.showQuickPick(items, { title: 'Trellis', placeHolder });
  await chosen?.does();
}

/** Pauses, resumes or cancels the open run; says so where there is none. */
export async function control(
  sidecar: Sidecar,
  board: Board,
  method: 'trellis/pauseJob' | 'trellis/resumeJob' | 'trellis/cancelJob',
): Promise<void> {
  const run = current(board.jobs);
  if (run === undefined) {
    await say.info(l10n.t('No run is open.'));
    return;
  }
  await sidecar.request(method, { job: run.id });
}

function ofRun(sidecar: Sidecar, run: Job): Action[] {
  const job = run.id;
  const held = run.state === 'paused';
  const turn: Action = held
    ? {
        label: `$(debug-continue) ${l10n.t('Resume')}`,
        does: () => sidecar.request('trellis/resumeJob', { job }),
      }
    : {
        label: `$(debug-pause) ${l10n.t('Pause')}`,
        detail: l10n.t('What is under way is finished, nothing new is begun.'),
        does: () => sidecar.request('trellis/pauseJob', { job }),
      };
  const cancel: Action = {
    label: `$(debug-stop) ${l10n.t('Cancel')}`,
    detail: l10n.t('What passed is kept; the run can be resumed later.'),
    does: () => sidecar.request('trellis/cancelJob', { job }),
  };
  const reports = isOfTasks(run) ? [] : report(run.out);
  return [turn, cancel, panel(), ...reports, output(sidecar)];
}

function ofNone(sidecar: Sidecar): Action[] {
  return [
    run('trellis.generate', `$(play) ${l10n.t('Generate from a planning graph…')}`),
    run('trellis.tasks', `$(checklist) ${l10n.t('Make tasks…')}`),
    run('trellis.resumeRun', `$(debug-continue) ${l10n.t('Resume a run…')}`),
    run('trellis.demo', `$(beaker) ${l10n.t('Run the demonstration (needs no key)')}`),
    run('trellis.showReport', `$(markdown) ${l10n.t('Show a report…')}`),
    panel(),
    run('trellis.selectModel', `$(hubot) ${l10n.t('Select the model…')}`),
    run('trellis.getStarted', `$(mortar-board) ${l10n.t('Get started')}`),
    output(sidecar),
  ];
}

function panel(): Action {
  return run('workbench.view.extension.trellis', `$(list-tree) ${l10n.t('Open the panel')}`);
}

function report(out: string | undefined): Action[] {
  const label = `$(markdown) ${l10n.t('Show the report')}`;
  return out === undefined ? [] : [run('trellis.showReport', label, out)];
}

function output(sidecar: Sidecar): Action {
  if (sidecar.state === 'stopped') {
    return run('trellis.restartSidecar', `$(debug-restart) ${l10n.t('Restart the sidecar')}`);
  }
  return run('trellis.showOutput', `$(output) ${l10n.t('Show the output')}`);
}

function run(command: string, label: string, ...given: unknown[]): Action {
  return { label, does: async () => await commands.executeCommand(command, ...given) };
}

/** What the run has cost; nothing where it has no status yet. */
async function costLine(
  sidecar: Sidecar,
  out: string,
  budget: Budget | undefined,
): Promise<string | undefined> {
  try {
    const cost = costOf(await sidecar.request('trellis/status', { out }));
    return cost === undefined ? undefined : costWords(cost, budget, l10n.t);
  } catch {
    // A run that has just begun has no checkpoint, and the list of actions must come up all the same.
    return undefined;
  }
}
