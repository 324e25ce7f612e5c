// A list of tasks: begun here, followed by the panel while it is made, told at the end.
import { commands, type Disposable, l10n, Uri } from 'vscode';
import { stringFields } from '../generation/command_arguments';
import { type TasksChoice, tasksParams } from '../generation/run_params';
import { means } from '../means/means';
import type { TasksResult } from '../protocol';
import { budgetOf } from '../run/cost';
import type { JobStore } from '../run/job_store';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { type Asked, pickTasks } from './pick';
import { ending } from './words';

export function tasks(sidecar: Sidecar, jobStore: JobStore): Disposable {
  const make = guarded(l10n.t('Could not build the project'), (it: unknown) =>
    makeTasks(sidecar, jobStore, asked(it)),
  );
  return commands.registerCommand('trellis.tasks', make);
}

/** Makes what is not merged yet; a second time it goes on, and tries again what failed. */
async function makeTasks(sidecar: Sidecar, jobStore: JobStore, given: Asked): Promise<void> {
  const choice = await pickTasks(sidecar, given);
  if (choice === undefined) return;
  const { out } = choice;
  const params = tasksParams(choice, await means('trellis/tasks', out));
  const onBegin = (job: string) => jobStore.started(job, out, budgetOf(params));
  const result = await requestJob(sidecar, 'trellis/tasks', params, { onBegin });
  if (result !== undefined) await told(result, choice);
}

async function told(result: TasksResult, { file, stack, out }: TasksChoice): Promise<void> {
  const { text, isGood } = ending(result, l10n.t);
  const [open, again] = [l10n.t('Open Folder'), l10n.t('Try Again')];
  const chosen = isGood ? await notify.info(text, open) : await notify.warn(text, open, again);
  if (chosen === again) await commands.executeCommand('trellis.tasks', { file, stack, out });
  // In a window of its own: in this one it would end the sidecar.
  if (chosen === open)
    await commands.executeCommand('vscode.openFolder', Uri.file(out), { forceNewWindow: true });
}

/** A file of the explorer, or what a caller chose. */
function asked(given: unknown): Asked {
  if (given instanceof Uri) return { file: given.fsPath };
  return stringFields(given, 'file', 'stack', 'out');
}
