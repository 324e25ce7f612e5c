// What is said when a run has ended: words, made of data.

import { basename, dirname } from 'node:path';
import type { StatusResult } from '../protocol';
import type { Job } from '../run/jobs';
import { errorText } from '../sidecar/errors';
import type { Translate } from '../translate';

export interface Ending {
  readonly text: string;
  readonly look: 'info' | 'warning' | 'error';
  /** Whether there is a report to be read. */
  readonly report: boolean;
  /** Whether the run can be gone on with. */
  readonly resumable: boolean;
}

/**
 * @param status where its nodes stand; none where it cannot be known
 */
export function ending(job: Job, status: StatusResult | undefined, t: Translate): Ending {
  const counts = status === undefined ? undefined : counted(status, t);
  if (job.state === 'cancelled') {
    const text = t('{0} was cancelled. What passed is kept.', job.title);
    return { text: joined(text, counts), look: 'info', report: false, resumable: true };
  }
  if (job.state === 'failed') {
    const why = errorText({ message: job.error ?? '', hint: job.hint, kind: undefined }, t);
    const text = t('{0} stopped: {1}', job.title, why);
    // What has no status has not begun: its input was refused, and would be again.
    return { text, look: 'error', report: false, resumable: status !== undefined };
  }
  if (status !== undefined && isDemo(job) && status.failed.length === FAILING) {
    const passed = status.counts.passed ?? 0;
    const text = t(
      'The demo is done: {0} of {1} functions passed. Two fail on purpose, to show how failures look.',
      passed,
      status.total,
    );
    return { text, look: 'info', report: true, resumable: false };
  }
  const failed = (status?.failed.length ?? 0) > 0;
  const text = t(hasFailedAgain(job, status) ? '{0} failed again.' : '{0} is done.', job.title);
  return { text: joined(text, counts), look: failed ? 'warning' : 'info', report: true, resumable: false };
}

/** Folder that the demo is generated below. */
export const DEMO = 'trellis-demo';
/** So many functions of the demo never pass, by design. */
const FAILING = 2;

function isDemo({ method, out }: Job): boolean {
  return method === 'generate' && out !== undefined && basename(dirname(out)) === DEMO;
}

/** Whether the node that was tried again stands as failed; such a job's title begins with it. */
function hasFailedAgain(job: Job, status: StatusResult | undefined): boolean {
  const failed = status?.failed ?? [];
  return job.method === 'retryNode' && failed.some((id) => job.title.startsWith(`${id} `));
}

function counted(status: StatusResult, t: Translate): string {
  const passed = status.counts.passed ?? 0;
  const parts = [t('{0} of {1} nodes passed', passed, status.total)];
  if (status.failed.length > 0) parts.push(t('{0} failed', status.failed.length));
  if (status.blocked.length > 0) parts.push(t('{0} skipped', status.blocked.length));
  return `${parts.join(', ')}.`;
}

function joined(text: string, more: string | undefined): string {
  return more === undefined ? text : `${text} ${more}`;
}
