// Message at the end of a run.

import { basename, dirname } from 'node:path';
import type { StatusResult } from '../protocol';
import type { Job } from '../run/jobs';
import { errorText } from '../sidecar/errors';
import type { Translate } from '../translate';

export interface RunFinished {
  readonly text: string;
  readonly severity: 'info' | 'warning' | 'error';
  /** Whether the run has a report. */
  readonly hasReport: boolean;
  /** Whether the run can be resumed. */
  readonly isResumable: boolean;
}

/**
 * Makes the message.
 * @param status none if it could not be read
 */
export function runFinished(job: Job, status: StatusResult | undefined, t: Translate): RunFinished {
  const counts = status === undefined ? undefined : countsText(status, t);
  if (job.state === 'cancelled') {
    const text = t('{0} was cancelled. What passed is kept.', job.title);
    return { text: joined(text, counts), severity: 'info', hasReport: false, isResumable: true };
  }
  if (job.state === 'failed') {
    const why = errorText({ message: job.error ?? '', hint: job.hint, kind: undefined }, t);
    const text = t('{0} stopped: {1}', job.title, why);
    // A run without a status never began: its input was refused, and would be again.
    return { text, severity: 'error', hasReport: false, isResumable: status !== undefined };
  }
  if (status !== undefined && isDemo(job) && status.failed.length === FAILING_IN_DEMO) {
    const passed = status.counts.passed ?? 0;
    const text = t(
      'The demo is done: {0} of {1} functions passed. Two fail on purpose, to show how failures look.',
      passed,
      status.total,
    );
    return { text, severity: 'info', hasReport: true, isResumable: false };
  }
  const failed = (status?.failed.length ?? 0) > 0;
  const text = t(hasFailedAgain(job, status) ? '{0} failed again.' : '{0} is done.', job.title);
  return {
    text: joined(text, counts),
    severity: failed ? 'warning' : 'info',
    hasReport: true,
    isResumable: false,
  };
}

/** Folder of the demo. */
export const DEMO_FOLDER = 'trellis-demo';
/** Number of functions of the demo that fail on purpose. */
const FAILING_IN_DEMO = 2;

function isDemo({ method, out }: Job): boolean {
  return method === 'generate' && out !== undefined && basename(dirname(out)) === DEMO_FOLDER;
}

/** Returns whether the retried node failed; the job's title begins with its id. */
function hasFailedAgain(job: Job, status: StatusResult | undefined): boolean {
  const failed = status?.failed ?? [];
  return job.method === 'retryNode' && failed.some((id) => job.title.startsWith(`${id} `));
}

function countsText(status: StatusResult, t: Translate): string {
  const passed = status.counts.passed ?? 0;
  const parts = [t('{0} of {1} nodes passed', passed, status.total)];
  if (status.failed.length > 0) parts.push(t('{0} failed', status.failed.length));
  if (status.blocked.length > 0) parts.push(t('{0} skipped', status.blocked.length));
  return `${parts.join(', ')}.`;
}

function joined(text: string, more: string | undefined): string {
  return more === undefined ? text : `${text} ${more}`;
}
