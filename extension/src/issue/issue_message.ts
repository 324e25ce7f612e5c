// Message about an issue that is done, or stopped.

import type { ImplementResult } from '../protocol';
import { sentence } from '../sentence';
import type { Translate } from '../translate';

export interface IssueMessage {
  readonly text: string;
  readonly isGood: boolean;
}

/** Makes the message about a result that waits for no decision. */
export function issueMessage(result: ImplementResult, t: Translate): IssueMessage {
  const { outcome, branch, notes, reason } = result;
  const issue = t('Issue {0}', result.issue);
  if (outcome === 'merged') {
    const extra = notes.map((it) => ` ${sentence(it)}`).join('');
    return { text: `${issue}: ${t('merged')}${testCounts(result, t)}.${extra}`, isGood: true };
  }
  if (outcome === 'left' && branch)
    return { text: `${issue}: ${t('kept on branch {0}', branch)}.`, isGood: true };
  return { text: `${issue}: ${reason ?? t('the change was not merged')}.`, isGood: false };
}

function testCounts({ allTests, passedBefore }: ImplementResult, t: Translate): string {
  if (!allTests) return '';
  const passing = t('{0} tests pass ({1} before)', allTests.passed, passedBefore);
  const failing = allTests.failed === 0 ? '' : `; ${t('{0} failed before, too', allTests.failed)}`;
  return `, ${passing}${failing}`;
}
