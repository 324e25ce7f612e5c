// Jobs of about a minute, shown in a notification.
import { CancellationTokenSource, type Progress, ProgressLocation, window } from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import type { Params, Sidecar } from './api';
import { type JobMethod, type JobResult, requestJob } from './job_request';
import { withoutLinks } from './link_free_text';

/** Milliseconds that a job may take without a notification. */
const UNSEEN_MS = 800;

/**
 * Requests a job of about a minute. If it takes longer than a moment, a notification shows the last line of its log
 * below `title`, and can cancel it.
 * @returns the result; rejects if the person cancelled the job
 */
export async function requestWithProgress<M extends JobMethod>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  title: string,
): Promise<JobResult<M> | undefined> {
  const source = new CancellationTokenSource();
  let line: string | undefined;
  let shown: Progress<{ message: string }> | undefined;
  const listener = {
    onEvent: (event: TrellisEvent) => {
      if (event.type !== 'log') return;
      line = withoutLinks(event.message.trim());
      shown?.report({ message: line });
    },
  };
  const work = requestJob(sidecar, method, params, listener, source.token);
  const options = { location: ProgressLocation.Notification, title: withoutLinks(title), cancellable: true };
  const timer = setTimeout(() => {
    void window.withProgress(options, async (progress, token) => {
      shown = progress;
      if (line !== undefined) progress.report({ message: line });
      token.onCancellationRequested(() => source.cancel());
      await work.catch(() => undefined);
    });
  }, UNSEEN_MS);
  return await work.finally(() => {
    clearTimeout(timer);
    source.dispose();
  });
}
