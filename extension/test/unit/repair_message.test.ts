// Message about the outcome of a repair.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RepairResult } from '../../src/protocol';
import { repairMessage } from '../../src/testing/repair_message';

const t = (text: string, ...values: (string | number)[]) =>
  text.replaceAll(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));

const result: RepairResult = {
  outcome: 'repaired',
  exitCode: 0,
  before: { passing: 2, failing: 3 },
  after: { passing: 5, failing: 0 },
  fixes: [],
  groups: [],
  flaky: [],
  setAside: [],
  patch: null,
  branch: null,
  commit: null,
  artifacts: null,
  usd: null,
  tokens: null,
  time: { seconds: 4, testSeconds: 3, testRuns: 5 },
  notes: [],
};

test('the message about a repair has the counts, and tests that no code change fixes', () => {
  const aside = [{ test: 'test_a.py', why: 'yaml is missing' }];
  const table: [Partial<RepairResult>, string, boolean][] = [
    [{}, 'Repaired: 5 tests pass, 0 fail.', true],
    [{ outcome: 'nothingToDo' }, 'Nothing to repair: 5 tests pass, 0 fail.', true],
    [
      { outcome: 'partly', setAside: aside },
      'Partly repaired: 5 tests pass, 0 fail. No code change fixes test_a.py: yaml is missing.',
      false,
    ],
    [{ outcome: 'needsHuman' }, 'Needs your review: 5 tests pass, 0 fail.', false],
    [
      { outcome: 'notRepaired', after: { passing: 1, failing: 2 } },
      'Not repaired: 1 tests pass, 2 fail.',
      false,
    ],
  ];
  for (const [given, text, isGood] of table)
    assert.deepEqual(repairMessage({ ...result, ...given }, t), { text, isGood });
});
