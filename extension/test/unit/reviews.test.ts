import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingCount } from '../../src/approval/messages';
import { LeftOut } from '../../src/issue/left_out';
import { ReviewFiles } from '../../src/issue/review_files';
import { issueTextOf, issueUriParts } from '../../src/issue/review_uri';
import { arrivedReviews, fileRow, type IssueReview, issueRow, waitingText } from '../../src/issue/reviews';

const t = (text: string, ...values: (string | number)[]) =>
  text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));

const review: IssueReview = {
  root: '/p',
  issue: '42',
  title: 'Issue 42: Halves',
  spec: 'docs/lld.md',
  context: [],
  branch: 'trellis/issue-42',
  into: 'main',
  worktree: '/p/.trellis/worktrees/issue-42',
  tip: 'a'.repeat(40),
  files: [
    { path: 'halves.py', added: 3, removed: 1 },
    { path: 'logo.png', added: null, removed: null },
  ],
  allTests: { passed: 12, failed: 3 },
  passedBefore: 10,
  doubts: ['setup.py is changed'],
  notes: [],
  createdAt: '2026-01-01T00:00:00Z',
};

test('a row has the counts of the tests in words, and the last refusal', () => {
  assert.equal(issueRow(review, t).description, '12 pass · 3 failed before, too');
  const passing = { ...review, allTests: { passed: 12, failed: 0 } };
  assert.equal(issueRow(passing, t).description, '12 pass');
  const refused = issueRow({ ...review, refused: 'without halves.py, the new tests fail' }, t);
  assert.equal(refused.description, 'not merged · 12 pass · 3 failed before, too');
  assert.ok(refused.tooltip.includes('Not merged: without halves.py, the new tests fail.'));
});

test('a file has its lines, unless it is not text', () => {
  const rows = review.files.map((it, at) => fileRow(it, at === 1, t));
  assert.deepEqual(rows, ['+3 −1', 'left out']);
});

test('a change is announced once, and again with other commits', () => {
  const newer = { ...review, tip: 'b'.repeat(40) };
  const table: [IssueReview[], IssueReview[], IssueReview[]][] = [
    [[], [review], [review]],
    [[review], [review], []],
    [[review], [newer], [newer]],
    [[{ ...review, root: '/q' }], [review], [review]],
  ];
  for (const [before, now, wanted] of table) assert.deepEqual(arrivedReviews(before, now), wanted);
});

test('the message says what waits, or why a decision was not carried out', () => {
  assert.deepEqual(waitingText(review, t), {
    text: 'Issue 42: Halves is ready for review: 12 pass · 3 failed before, too. setup.py is changed.',
    isGood: true,
  });
  assert.deepEqual(waitingText({ ...review, refused: 'without a.py, the new tests fail' }, t), {
    text: 'Issue 42: Halves was not merged: without a.py, the new tests fail.',
    isGood: false,
  });
});

test('the count names what waits', () => {
  const table: [number, number, number, string][] = [
    [1, 0, 0, '1 fix to review'],
    [2, 0, 0, '2 fixes to review'],
    [0, 1, 0, '1 issue to review'],
    [0, 3, 0, '3 issues to review'],
    [0, 0, 2, 'generated tests to review'],
    [2, 1, 0, '3 to review'],
    [0, 1, 2, '3 to review'],
  ];
  for (const [fixes, issues, tests, text] of table)
    assert.equal(waitingCount({ fixes, issues, tests }, t), text);
});

test("texts of a change have the project's paths, and others' URIs are refused", () => {
  const text = { root: '/p', issue: '42', path: 'shop/halves.py', side: 'work' } as const;
  const parts = issueUriParts(text);
  assert.equal(parts.path, '/shop/halves.py');
  assert.deepEqual(issueTextOf(parts), text);
  for (const query of ['', '[]', '{"root":"/p"}', JSON.stringify({ ...text, side: 'other' })])
    assert.equal(issueTextOf({ ...parts, query }), undefined);
  assert.equal(issueTextOf({ ...parts, scheme: 'file' }), undefined);
});

test('files that are left out are remembered until the change is decided', async () => {
  const stored = new Map<string, unknown>();
  const memento = {
    keys: () => [...stored.keys()],
    get: (key: string, otherwise: unknown) => stored.get(key) ?? otherwise,
    update: async (key: string, value: unknown) => void stored.set(key, value),
  };
  const open = () => new LeftOut(memento as never);
  const file = { root: '/p', issue: '42', path: 'halves.py' };
  await open().set(file, true);
  await open().set({ ...file, path: 'gone.py' }, true);
  await open().set({ ...file, issue: '4' }, true);
  assert.deepEqual(open().of(review), ['halves.py']);
  await open().set(file, false);
  assert.deepEqual(open().of(review), []);
  await open().set(file, true);
  await open().forget(review);
  assert.deepEqual(open().of(review), []);
  assert.ok(open().has({ ...file, issue: '4' }));
  const leftOut = open();
  let changes = 0;
  leftOut.onChange(() => {
    changes += 1;
  });
  await leftOut.replace(review, ['logo.png']);
  assert.deepEqual([leftOut.of(review), changes], [['logo.png'], 1]);
  assert.ok(leftOut.has({ ...file, issue: '4' }), 'of another issue');
});

test('texts of a change that the model corrected are read again', () => {
  const files = new ReviewFiles({} as never);
  const changed: string[] = [];
  files.onDidChangeFile((all) =>
    changed.push(...all.map(({ uri }) => `${issueTextOf(uri)?.side} ${uri.path}`)),
  );
  files.update([review]);
  files.update([review]);
  assert.deepEqual(changed, []);
  files.update([{ ...review, tip: 'b'.repeat(40) }]);
  assert.deepEqual(changed, ['base /halves.py', 'work /halves.py', 'base /logo.png', 'work /logo.png']);
});
