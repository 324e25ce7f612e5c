// Message about the outcome of a task list.

import type { TasksResult } from '../protocol';
import type { Translate } from '../translate';

export interface TasksMessage {
  readonly text: string;
  readonly isGood: boolean;
}

export function tasksMessage(result: TasksResult, t: Translate): TasksMessage {
  const isGood = result.exitCode === 0;
  const [first] = Object.entries(result.failedTasks);
  const why =
    first === undefined ? overallReason(result, isGood, t) : ` ${first[0]}: ${firstLine(first[1])}.`;
  return { text: `${countsText(result, t)}.${why}`, isGood };
}

function countsText(result: TasksResult, t: Translate): string {
  const { completedTasks, failedTasks, blockedTasks, totalTasks } = result;
  const [failed, blocked] = [Object.keys(failedTasks).length, Object.keys(blockedTasks).length];
  const parts = [t('{0} of {1} tasks merged', completedTasks.length, totalTasks)];
  if (failed > 0) parts.push(t('{0} failed', failed));
  if (blocked > 0) parts.push(t('{0} blocked', blocked));
  return parts.join(', ');
}

/** Explains a failure without a failed task. */
function overallReason({ completedTasks }: TasksResult, isGood: boolean, t: Translate): string {
  if (isGood) return '';
  const why =
    completedTasks.length === 0
      ? t('The tests of the new project fail.')
      : t('The full test run of the project fails.');
  return ` ${why}`;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\.$/, '');
}
