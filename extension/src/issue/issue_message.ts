// Message about the state of an issue.

import type { ImplementResult } from '../protocol';
import type { Translate } from '../translate';

/** Next actions of a person. */
export type IssueAction = 'approve' | 'sendBack' | 'leave' | 'changes' | 'report';

export interface IssueMessage {
  readonly text: string;
  readonly isGood: boolean;
  /** Actions in the order of display. */
  readonly actions: readonly IssueAction[];
}

/** Makes the message about a result. */
export function issueMessage(result: ImplementResult, t: Translate): IssueMessage {
  const report: IssueAction[] = result.reports ? ['report'] : [];
  const changes: IssueAction[] = result.files.length > 0 ? ['changes'] : [];
  const issue = t('Issue {0}', result.issue);
  if (result.outcome === 'merged') {
    return { text: `${issue}: ${t('merged')}${testCounts(result, t)}.`, isGood: true, actions: report };
  }
  if (result.waits) {
    const notes = [...result.doubts, ...result.notes].map((it) => ` ${it}.`).join('');
    const text = `${issue}: ${t('the change is ready for your review')}${testCounts(result, t)}.${notes}`;
    return { text, isGood: true, actions: ['approve', 'sendBack', 'leave', ...report] };
  }
  const why = result.reason ?? t('the change was not merged');
  return { text: `${issue}: ${why}.`, isGood: false, actions: [...changes, ...report] };
}

function testCounts({ allTests, passedBefore }: ImplementResult, t: Translate): string {
  if (!allTests) return '';
  return `, ${t('{0} tests pass ({1} before), {2} fail', allTests.passed, passedBefore, allTests.failed)}`;
}
