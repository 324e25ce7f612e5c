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

test('the message about an issue says how it ended', () => {
  const table: [Partial<ImplementResult>, string, boolean][] = [
    [{ outcome: 'merged', exitCode: 0 }, 'Issue 42: merged, 5 tests pass (3 before).', true],
    [
      {
        outcome: 'merged',
        allTests: { passed: 5, failed: 2 },
        notes: ['no linter ran', 'a.md was left out'],
      },
      'Issue 42: merged, 5 tests pass (3 before); 2 failed before, too. No linter ran. a.md was left out.',
      true,
    ],
    [{ outcome: 'left', branch: 'trellis/issue-42' }, 'Issue 42: kept on branch trellis/issue-42.', true],
    [{ reason: '4 attempts did not do' }, 'Issue 42: 4 attempts did not do.', false],
    [{ outcome: 'failed', reason: 'no answer', files: [], reports: null }, 'Issue 42: no answer.', false],
  ];
  for (const [part, text, isGood] of table)
    assert.deepEqual(issueMessage({ ...result, ...part }, t), { text, isGood });
});
