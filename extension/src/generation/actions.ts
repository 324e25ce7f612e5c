// What can be done about the open run, and about runs at all: the list behind the status bar.
import { commands, l10n, type QuickPickItem, QuickPickItemKind, window } from 'vscode';
import type { Board } from '../run/board';
import { type Budget, costOf, costWords } from '../run/cost';
import { current, isGrowing, isOfTasks, type Job, underWay } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';

interface Action extends QuickPickItem {
  readonly does: () => Promise<unknown>;
}

/** An action, or a line between actions. */
type Item = Action | (QuickPickItem & { readonly does?: undefined });

export async function showActions(sidecar: Sidecar, board: Board): Promise<void> {
  const jobs = underWay(board.jobs);
  const [first] = jobs;
  const cost = first?.out === undefined ? undefined : await costLine(sidecar, first.out, first.budget);
  const placeHolder = [first?.title, cost].filter((it) => it !== undefined).join(' · ');
  const chosen = await window.showQuickPick(itemsOf(sidecar, jobs), { title: 'Trellis', placeHolder });
  await chosen?.does?.();
}

/** What can be done about each job; where there are several, below its title. */
function itemsOf(sidecar: Sidecar, jobs: readonly Job[]): Item[] {
  if (jobs.length === 0) return ofNone(sidecar);
  const all = jobs.flatMap((job) => [...(jobs.length > 1 ? [heading(job)] : []), ...ofJob(sidecar, job)]);
  const rest = { label: '', kind: QuickPickItemKind.Separator };
  return [...all, ...(jobs.length > 1 ? [rest] : []), panel(), output(sidecar)];
}

function heading({ title }: Job): Item {
  return { label: title, kind: QuickPickItemKind.Separator };
}

/** Pauses, resumes or cancels the open run; says so where there is none. */
export async function control(
  sidecar: Sidecar,
  board: Board,
  method: 'trellis/pauseJob' | 'trellis/resumeJob' | 'trellis/cancelJob',
): Promise<void> {
  // Only runs can be paused.
  const run = method === 'trellis/cancelJob' ? underWay(board.jobs)[0] : current(board.jobs);
  if (run === undefined) {
    await notify.info(l10n.t('No run in progress.'));
    return;
  }
  await sidecar.request(method, { job: run.id });
}

function ofJob(sidecar: Sidecar, run: Job): Action[] {
  const job = run.id;
  if (!isGrowing(run)) {
    const label = `$(debug-stop) ${l10n.t('Cancel')}`;
    return [{ label, does: () => sidecar.request('trellis/cancelJob', { job }) }];
  }
  const held = run.state === 'paused';
  const turn: Action = held
    ? {
        label: `$(debug-continue) ${l10n.t('Resume')}`,
        does: () => sidecar.request('trellis/resumeJob', { job }),
      }
    : {
        label: `$(debug-pause) ${l10n.t('Pause')}`,
        detail: l10n.t('Finishes what is running, then starts nothing new.'),
        does: () => sidecar.request('trellis/pauseJob', { job }),
      };
  const cancel: Action = {
    label: `$(debug-stop) ${l10n.t('Cancel')}`,
    detail: l10n.t('Keeps what passed. You can resume the run later.'),
    does: () => sidecar.request('trellis/cancelJob', { job }),
  };
  const reports = isOfTasks(run) ? [] : report(run.out);
  return [turn, cancel, ...reports];
}

function ofNone(sidecar: Sidecar): Action[] {
  return [
    run('trellis.repair', `$(wrench) ${l10n.t('Repair Failing Tests')}`),
    run('trellis.generate', `$(play) ${l10n.t('Generate Repository from Graph…')}`),
    run('trellis.tasks', `$(checklist) ${l10n.t('Build Project from Task List…')}`),
    run('trellis.resumeRun', `$(debug-continue) ${l10n.t('Resume Stopped Run…')}`),
    run('trellis.demo', `$(beaker) ${l10n.t('Run Demo (no API key needed)')}`),
    run('trellis.showReport', `$(markdown) ${l10n.t('Show Report…')}`),
    panel(),
    run('trellis.selectModel', `$(hubot) ${l10n.t('Select Model…')}`),
    run('trellis.getStarted', `$(mortar-board) ${l10n.t('Get Started')}`),
    output(sidecar),
  ];
}

function panel(): Action {
  return run('workbench.view.extension.trellis', `$(list-tree) ${l10n.t('Open Trellis View')}`);
}

function report(out: string | undefined): Action[] {
  const label = `$(markdown) ${l10n.t('Show Report')}`;
  return out === undefined ? [] : [run('trellis.showReport', label, out)];
}

function output(sidecar: Sidecar): Action {
  if (sidecar.state === 'stopped') {
    return run('trellis.restartSidecar', `$(debug-restart) ${l10n.t('Restart Server')}`);
  }
  return run('trellis.showOutput', `$(output) ${l10n.t('Show Output')}`);
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
