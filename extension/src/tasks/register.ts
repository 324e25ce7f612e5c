// Command that builds a project from a task list; the Trellis view shows the tasks in the meantime.
import { commands, type Disposable, l10n, Uri } from 'vscode';
import { stringFields } from '../generation/command_arguments';
import { type TasksChoice, tasksParams } from '../generation/run_params';
import type { TasksResult } from '../protocol';
import { budgetOf } from '../run/cost';
import type { JobStore } from '../run/job_store';
import { requestSettings } from '../settings/request_settings';
import type { Sidecar } from '../sidecar/api';
import { requestJob } from '../sidecar/job_request';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { tasksMessage } from './tasks_message';
import { pickTasks, type TasksRequest } from './tasks_picker';

export function registerTasks(sidecar: Sidecar, jobStore: JobStore): Disposable {
  const make = guarded(l10n.t('Could not build the project'), (it: unknown) =>
    buildTasks(sidecar, jobStore, requestOf(it)),
  );
  return commands.registerCommand('trellis.tasks', make);
}

/** Builds the tasks that are not merged yet; a repeated call resumes, and retries what failed. */
async function buildTasks(sidecar: Sidecar, jobStore: JobStore, given: TasksRequest): Promise<void> {
  const choice = await pickTasks(sidecar, given);
  if (choice === undefined) return;
  const { out } = choice;
  const params = tasksParams(choice, await requestSettings('trellis/tasks', out));
  const onBegin = (job: string) => jobStore.started(job, out, budgetOf(params));
  const result = await requestJob(sidecar, 'trellis/tasks', params, { onBegin });
  if (result !== undefined) await reportOutcome(result, choice);
}

async function reportOutcome(result: TasksResult, { file, stack, out }: TasksChoice): Promise<void> {
  const { text, isGood } = tasksMessage(result, l10n.t);
  const [open, again] = [l10n.t('Open Folder'), l10n.t('Try Again')];
  const chosen = isGood ? await notify.info(text, open) : await notify.warn(text, open, again);
  if (chosen === again) await commands.executeCommand('trellis.tasks', { file, stack, out });
  // In a new window: in this one it would end the sidecar.
  if (chosen === open)
    await commands.executeCommand('vscode.openFolder', Uri.file(out), { forceNewWindow: true });
}

/** Reads the argument of `trellis.tasks`: a file of the explorer, or choices of a caller. */
function requestOf(argument: unknown): TasksRequest {
  if (argument instanceof Uri) return { file: argument.fsPath };
  return stringFields(argument, 'file', 'stack', 'out', 'model');
}
