// The menu behind the status bar: actions for open jobs, and for runs in general.
import { commands, l10n, type QuickPickItem, QuickPickItemKind, window } from 'vscode';
import { type Budget, costOf, costText } from '../run/cost';
import type { JobControl, JobStore } from '../run/job_store';
import { currentRun, isRun, isTasks, type Job, openLongJobs } from '../run/jobs';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';

interface MenuAction extends QuickPickItem {
  readonly run: () => Promise<unknown>;
}

/** An action, or a separator. */
type MenuItem = MenuAction | (QuickPickItem & { readonly run?: undefined });

export async function showActionsMenu(sidecar: Sidecar, jobStore: JobStore): Promise<void> {
  const jobs = openLongJobs(jobStore.jobs);
  const [first] = jobs;
  const cost = first?.out === undefined ? undefined : await costOfRun(sidecar, first.out, first.budget);
  const placeHolder = [first?.title, cost].filter((it) => it !== undefined).join(' · ');
  const chosen = await window.showQuickPick(menuItems(sidecar, jobStore, jobs), {
    title: 'Trellis',
    placeHolder,
  });
  await chosen?.run?.();
}

/** Makes the items for each job; below its title if there are several jobs. */
function menuItems(sidecar: Sidecar, jobStore: JobStore, jobs: readonly Job[]): MenuItem[] {
  if (jobs.length === 0) return idleActions(sidecar);
  const all = jobs.flatMap((job) => [
    ...(jobs.length > 1 ? [heading(job)] : []),
    ...jobActions(jobStore, job),
  ]);
  const rest = { label: '', kind: QuickPickItemKind.Separator };
  return [...all, ...(jobs.length > 1 ? [rest] : []), openViewAction(), outputAction(sidecar)];
}

function heading({ title }: Job): MenuItem {
  return { label: title, kind: QuickPickItemKind.Separator };
}

/** Pauses, resumes or cancels the current run; reports if there is none. */
export async function controlJob(jobStore: JobStore, method: JobControl['method']): Promise<void> {
  // Only runs can be paused.
  const run = method === 'trellis/cancelJob' ? openLongJobs(jobStore.jobs)[0] : currentRun(jobStore.jobs);
  if (run === undefined) {
    await notify.info(l10n.t('No run in progress.'));
    return;
  }
  await jobStore.control(method, run.id);
}

function jobActions(jobStore: JobStore, run: Job): MenuAction[] {
  const job = run.id;
  if (!isRun(run)) {
    const label = `$(debug-stop) ${l10n.t('Cancel')}`;
    return [{ label, run: () => jobStore.control('trellis/cancelJob', job) }];
  }
  const held = run.state === 'paused';
  const turn: MenuAction = held
    ? {
        label: `$(debug-continue) ${l10n.t('Resume')}`,
        run: () => jobStore.control('trellis/resumeJob', job),
      }
    : {
        label: `$(debug-pause) ${l10n.t('Pause')}`,
        detail: l10n.t('Finishes what is running, then starts nothing new.'),
        run: () => jobStore.control('trellis/pauseJob', job),
      };
  const cancel: MenuAction = {
    label: `$(debug-stop) ${l10n.t('Cancel')}`,
    detail: l10n.t('Keeps what passed. You can resume the run later.'),
    run: () => jobStore.control('trellis/cancelJob', job),
  };
  const reports = isTasks(run) ? [] : reportActions(run.out);
  return [turn, cancel, ...reports];
}

function idleActions(sidecar: Sidecar): MenuAction[] {
  return [
    commandAction('trellis.repair', `$(wrench) ${l10n.t('Repair Failing Tests')}`),
    commandAction('trellis.generate', `$(play) ${l10n.t('Generate Repository from Graph…')}`),
    commandAction('trellis.tasks', `$(checklist) ${l10n.t('Build Project from Task List…')}`),
    commandAction('trellis.resumeRun', `$(debug-continue) ${l10n.t('Resume Stopped Run…')}`),
    commandAction('trellis.demo', `$(beaker) ${l10n.t('Run Demo (no API key needed)')}`),
    commandAction('trellis.showReport', `$(markdown) ${l10n.t('Show Report…')}`),
    openViewAction(),
    commandAction('trellis.selectModel', `$(hubot) ${l10n.t('Select Model…')}`),
    commandAction('trellis.getStarted', `$(mortar-board) ${l10n.t('Get Started')}`),
    outputAction(sidecar),
  ];
}

function openViewAction(): MenuAction {
  return commandAction('workbench.view.extension.trellis', `$(list-tree) ${l10n.t('Open Trellis View')}`);
}

function reportActions(out: string | undefined): MenuAction[] {
  const label = `$(markdown) ${l10n.t('Show Report')}`;
  return out === undefined ? [] : [commandAction('trellis.showReport', label, out)];
}

function outputAction(sidecar: Sidecar): MenuAction {
  if (sidecar.state === 'stopped') {
    return commandAction('trellis.restartSidecar', `$(debug-restart) ${l10n.t('Restart Server')}`);
  }
  return commandAction('trellis.showOutput', `$(output) ${l10n.t('Show Output')}`);
}

function commandAction(command: string, label: string, ...given: unknown[]): MenuAction {
  return { label, run: async () => await commands.executeCommand(command, ...given) };
}

/** Describes the cost of a run; `undefined` before its first status. */
async function costOfRun(
  sidecar: Sidecar,
  out: string,
  budget: Budget | undefined,
): Promise<string | undefined> {
  try {
    const cost = costOf(await sidecar.request('trellis/status', { out }));
    return cost === undefined ? undefined : costText(cost, budget, l10n.t);
  } catch {
    // A run that has just begun has no checkpoint; the menu opens without the cost.
    return undefined;
  }
}
