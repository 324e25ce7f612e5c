// Work that is waited for: of about a minute in a notification, of hours in the status bar alone.
import { ProgressLocation, window } from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import type { Params, Sidecar } from './api';
import { type JobMethod, type JobResult, requestJob } from './job_request';
import { plain } from './plain';

/**
 * Does work of about a minute: a notification shows the last line of its log below `title`, and can stop it.
 * @returns what it came to; rejects where the person stopped it
 */
export async function follow<M extends JobMethod>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  title: string,
): Promise<JobResult<M> | undefined> {
  const options = { location: ProgressLocation.Notification, title: plain(title), cancellable: true };
  return await window.withProgress(options, async (progress, token) => {
    const listener = {
      onEvent: (event: TrellisEvent) => {
        if (event.type === 'log') progress.report({ message: plain(event.message.trim()) });
      },
    };
    return await requestJob(sidecar, method, params, listener, token);
  });
}

/**
 * Does work that may take hours: the status bar shows its job, and can stop it.
 * @param onBegin receives the id of the job
 * @returns as {@link follow}
 */
export async function work<M extends JobMethod>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  onBegin: (job: string) => void = () => {},
): Promise<JobResult<M> | undefined> {
  return await requestJob(sidecar, method, params, { onBegin });
}
