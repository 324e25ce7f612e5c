// Message about the outcome of a repair.

import type { RepairResult } from '../protocol';
import type { Translate } from '../translate';

export interface RepairMessage {
  readonly text: string;
  readonly isGood: boolean;
}

/** Makes the message. */
export function repairMessage(result: RepairResult, t: Translate): RepairMessage {
  const { passing, failing } = result.after;
  const counts = t('{0} tests pass, {1} fail', passing, failing);
  const first = result.setAside[0];
  const aside = first ? ` ${t('No code change fixes {0}: {1}', first.test, first.why)}.` : '';
  const [text, isGood] = headline(result, t);
  return { text: `${text}: ${counts}.${aside}`, isGood };
}

function headline({ outcome }: RepairResult, t: Translate): readonly [string, boolean] {
  switch (outcome) {
    case 'nothingToDo':
      return [t('Nothing to repair'), true];
    case 'repaired':
      return [t('Repaired'), true];
    case 'partly':
      return [t('Partly repaired'), false];
    case 'needsHuman':
      return [t('Needs your review'), false];
    default:
      return [t('Not repaired'), false];
  }
}
