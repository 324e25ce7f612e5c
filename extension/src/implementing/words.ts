// How the work on an issue stands, in words.

import type { ImplementResult } from '../protocol';
import type { Translate } from '../translate';

/** What a person may do next. */
export type Offer = 'approve' | 'sendBack' | 'leave' | 'changes' | 'report';

export interface Told {
  readonly text: string;
  readonly isGood: boolean;
  /** In the order in which they are shown. */
  readonly offers: readonly Offer[];
}

/** What is said of a result. */
export function told(result: ImplementResult, t: Translate): Told {
  const report: Offer[] = result.reports ? ['report'] : [];
  const changes: Offer[] = result.files.length > 0 ? ['changes'] : [];
  const issue = t('Issue {0}', result.issue);
  if (result.outcome === 'merged') {
    return { text: `${issue}: ${t('merged')}${tests(result, t)}.`, isGood: true, offers: report };
  }
  if (result.waits) {
    const notes = [...result.doubts, ...result.notes].map((it) => ` ${it}.`).join('');
    const text = `${issue}: ${t('the change is ready for your review')}${tests(result, t)}.${notes}`;
    return { text, isGood: true, offers: ['approve', 'sendBack', 'leave', ...report] };
  }
  const why = result.reason ?? t('the change was not merged');
  return { text: `${issue}: ${why}.`, isGood: false, offers: [...changes, ...report] };
}

function tests({ allTests, passedBefore }: ImplementResult, t: Translate): string {
  if (!allTests) return '';
  return `, ${t('{0} tests pass ({1} before), {2} fail', allTests.passed, passedBefore, allTests.failed)}`;
}
