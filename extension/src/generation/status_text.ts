// Text of the status bar.

import { type Cost, costText } from '../run/cost';
import { isRun, type Job, type Progress } from '../run/jobs';
import type { SidecarState } from '../sidecar/api';
import type { Translate } from '../translate';

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: 'plain' | 'warning' | 'error';
}

/**
 * Makes the text.
 * @param jobs open jobs of hours, the most important first
 * @param others number of other open jobs
 * @param cost of the first job, if it is known
 */
export function statusText(
  state: SidecarState,
  jobs: readonly Job[],
  others: number,
  t: Translate,
  cost?: Cost,
): StatusText {
  const [job, ...more] = jobs;
  if (state === 'stopped') {
    return { text: '$(error) Trellis', tooltip: t('The Trellis server is not running.'), severity: 'error' };
  }
  if (state === 'restarting') {
    return {
      text: '$(sync~spin) Trellis',
      tooltip: t('The Trellis server is restarting.'),
      severity: 'warning',
    };
  }
  if (job !== undefined) return jobsStatus(job, more, cost, t);
  if (state === 'starting' || others > 0) {
    return { text: '$(sync~spin) Trellis', tooltip: busyText(state, others, t), severity: 'plain' };
  }
  return { text: '$(type-hierarchy-sub) Trellis', tooltip: t('No run in progress.'), severity: 'plain' };
}

function busyText(state: SidecarState, others: number, t: Translate): string {
  if (state === 'starting') return t('The Trellis server is starting.');
  return others === 1 ? t('1 job is running.') : t('{0} jobs are running.', others);
}

function jobsStatus(job: Job, more: readonly Job[], cost: Cost | undefined, t: Translate): StatusText {
  const paused = job.state === 'paused';
  const icon = paused ? '$(debug-pause)' : '$(sync~spin)';
  const parts = [`${icon} Trellis`];
  // A run is shown by its counts, other jobs by their title.
  if (!isRun(job)) parts.push(job.title);
  if (job.progress !== undefined) parts.push(progressText(job.progress));
  if (paused) parts.push(t('paused'));
  else if (job.progress?.etaSeconds !== undefined) parts.push(remainingTime(job.progress.etaSeconds, t));
  if (more.length > 0) parts.push(`+${more.length}`);
  const spent = cost === undefined ? [] : [costText(cost, job.budget, t)];
  const tooltip = [...jobLines(job), ...spent, ...more.flatMap(jobLines)].join('\n');
  return { text: parts.join(' · '), tooltip, severity: 'plain' };
}

/** Returns title and last log line of a job. */
function jobLines({ title, line }: Job): string[] {
  return line === undefined ? [title] : [title, line];
}

function progressText({ done, total, percent }: Progress): string {
  return `${done}/${total} ${percent}%`;
}

/** Describes the remaining time in the largest unit that fits. */
export function remainingTime(seconds: number, t: Translate): string {
  if (seconds < 90) return t('{0} s left', Math.round(seconds));
  if (seconds < 90 * 60) return t('{0} min left', Math.ceil(seconds / 60));
  return t('{0} h left', Math.ceil(seconds / 3600));
}
