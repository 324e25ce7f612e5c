// Jobs of about a minute, shown in a notification.
import { ProgressLocation, window } from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import type { Params, Sidecar } from './api';
import { type JobMethod, type JobResult, requestJob } from './job_request';
import { withoutLinks } from './link_free_text';

/**
 * Requests a job of about a minute. A notification shows the last line of its log below `title`, and can cancel it.
 * @returns the result; rejects if the person cancelled the job
 */
export async function requestWithProgress<M extends JobMethod>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  title: string,
): Promise<JobResult<M> | undefined> {
  const options = { location: ProgressLocation.Notification, title: withoutLinks(title), cancellable: true };
  return await window.withProgress(options, async (progress, token) => {
    const listener = {
      onEvent: (event: TrellisEvent) => {
        if (event.type === 'log') progress.report({ message: withoutLinks(event.message.trim()) });
      },
    };
    return await requestJob(sidecar, method, params, listener, token);
  });
}
