import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueMessage } from '../../src/issue/issue_message';
import type { ImplementResult } from '../../src/protocol';

const t = (text: string, ...values: (string | number)[]) =>
  text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));

const result: ImplementResult = {
  outcome: 'needsHuman',
  exitCode: 2,
  waits: false,
  issue: '42',
  files: ['a.py'],
  diff: '',
  doubts: [],
  history: [],
  passedBefore: 3,
  allTests: { passed: 5, failed: 0 },
  reports: '.trellis/implement/issue-42',
  time: { seconds: 1, testSeconds: 1, testRuns: 1 },
  notes: [],
  pushed: [],
};

test('the message about an issue has its state and the next actions', () => {
  const table: [Partial<ImplementResult>, string, boolean, string[]][] = [
    [
      { outcome: 'merged', exitCode: 0 },
      'Issue 42: merged, 5 tests pass (3 before), 0 fail.',
      true,
      ['report'],
    ],
    [
      { waits: true, doubts: ['setup.py is changed'], notes: ['no linter looked at the change'] },
      'Issue 42: the change is ready for your review, 5 tests pass (3 before), 0 fail. setup.py is changed. no linter looked at the change.',
      true,
      ['approve', 'sendBack', 'leave', 'report'],
    ],
    [{ reason: '4 attempts did not do' }, 'Issue 42: 4 attempts did not do.', false, ['changes', 'report']],
    [{ outcome: 'failed', reason: 'no answer', files: [], reports: null }, 'Issue 42: no answer.', false, []],
  ];
  for (const [part, text, isGood, actions] of table)
    assert.deepEqual(issueMessage({ ...result, ...part }, t), { text, isGood, actions });
});
