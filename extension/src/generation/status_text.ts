// What the status bar says: words, made of data.

import { type Cost, costWords } from '../run/cost';
import { isGrowing, type Job, type Progress } from '../run/jobs';
import type { SidecarState } from '../sidecar/api';
import type { Translate } from '../translate';

export interface Shown {
  readonly text: string;
  readonly tooltip: string;
  readonly look: 'plain' | 'warning' | 'error';
}

/**
 * @param jobs of hours that are under way, the one that matters most first
 * @param others how much other work is under way
 * @param cost of the first job, where it is known
 */
export function shown(
  state: SidecarState,
  jobs: readonly Job[],
  others: number,
  t: Translate,
  cost?: Cost,
): Shown {
  const [job, ...more] = jobs;
  if (state === 'stopped') {
    return { text: '$(error) Trellis', tooltip: t('The Trellis server is not running.'), look: 'error' };
  }
  if (state === 'restarting') {
    return {
      text: '$(sync~spin) Trellis',
      tooltip: t('The Trellis server is restarting.'),
      look: 'warning',
    };
  }
  if (job !== undefined) return ofJobs(job, more, cost, t);
  if (state === 'starting' || others > 0) {
    return { text: '$(sync~spin) Trellis', tooltip: busy(state, others, t), look: 'plain' };
  }
  return { text: '$(type-hierarchy-sub) Trellis', tooltip: t('No run in progress.'), look: 'plain' };
}

function busy(state: SidecarState, others: number, t: Translate): string {
  if (state === 'starting') return t('The Trellis server is starting.');
  return others === 1 ? t('1 job is running.') : t('{0} jobs are running.', others);
}

function ofJobs(job: Job, more: readonly Job[], cost: Cost | undefined, t: Translate): Shown {
  const paused = job.state === 'paused';
  const icon = paused ? '$(debug-pause)' : '$(sync~spin)';
  const parts = [`${icon} Trellis`];
  // Runs are told by their counts, other work by what it is.
  if (!isGrowing(job)) parts.push(job.title);
  if (job.progress !== undefined) parts.push(counted(job.progress));
  if (paused) parts.push(t('paused'));
  else if (job.progress?.etaSeconds !== undefined) parts.push(left(job.progress.etaSeconds, t));
  if (more.length > 0) parts.push(`+${more.length}`);
  const spent = cost === undefined ? [] : [costWords(cost, job.budget, t)];
  const tooltip = [...told(job), ...spent, ...more.flatMap(told)].join('\n');
  return { text: parts.join(' · '), tooltip, look: 'plain' };
}

/** What a job is about, and what it does. */
function told({ title, line }: Job): string[] {
  return line === undefined ? [title] : [title, line];
}

function counted({ done, total, percent }: Progress): string {
  return `${done}/${total} ${percent}%`;
}

/** How long it takes, in the coarsest unit that says something. */
export function left(seconds: number, t: Translate): string {
  if (seconds < 90) return t('{0} s left', Math.round(seconds));
  if (seconds < 90 * 60) return t('{0} min left', Math.ceil(seconds / 60));
  return t('{0} h left', Math.ceil(seconds / 3600));
}
