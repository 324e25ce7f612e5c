// Proposals as values: the queue, messages and lenses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l10n } from 'vscode';
import { factPhrases, type KnownFacts } from '../../src/approval/facts_text';
import { hunkAt } from '../../src/approval/hunk_at_caret';
import { editLenses, proposalLenses } from '../../src/approval/lens_list';
import {
  arrivalText,
  decisionMessage,
  pickItem,
  rowOf,
  tabTitle,
  undoneText,
} from '../../src/approval/messages';
import { ProposalQueries } from '../../src/approval/proposal_query';
import {
  EDIT_SCHEME,
  isSameProposal,
  PROPOSAL_SCHEME,
  proposalKey,
  proposalRefOf,
  reviewedOf,
  type TextRef,
  textRefOf,
  uriPartsOf,
} from '../../src/approval/proposal_uri';
import {
  applyEvent,
  arrived,
  departed,
  EMPTY_QUEUE,
  ordered,
  waiting,
  withList,
  without,
} from '../../src/approval/queue';
import type {
  DecideFixResult,
  FixResult,
  FixSummary,
  State,
  Event as TrellisEvent,
} from '../../src/protocol';
import { isBelow } from '../../src/run/folders';
import { toTrellisError } from '../../src/sidecar/errors';

const words = l10n.t;

const summary = (fix: string, state: State = 'waiting', createdAt = '2026-01-01T00:00:00Z'): FixSummary => ({
  fix,
  state,
  revision: 1,
  createdAt,
  reason: 'makes t pass',
  explanation: 'The sign was wrong.',
  facts: { fixed: 2, failing: 3, stillPassing: 5, uncoveredHunks: [2] },
  confidence: { total: 0.874, diagnostic: 1, fix: 0.5, coverage: 0.25 },
  test: { id: 'test_a.py::t', message: 'AssertionError: no', path: 'test_a.py', line: 4 },
  paths: ['shop/a.py'],
  hunks: 2,
  node: null,
});

const told = (fix: string, state: string, root = '/p'): Extract<TrellisEvent, { type: 'proposal' }> => ({
  type: 'proposal',
  proposal: fix,
  root,
  state,
});

test('waiting proposals come first, then the oldest, and decided ones are left out', () => {
  const later = '2026-01-02T00:00:00Z';
  const queue = withList(EMPTY_QUEUE, '/p', [
    summary('fix-1', 'undone'),
    summary('fix-2', 'waiting', later),
    summary('fix-3', 'accepted'),
    summary('fix-4', 'stale'),
    summary('fix-5', 'rejected'),
    summary('fix-6', 'failed'),
    summary('fix-7'),
  ]);
  const ids = (them: readonly FixSummary[]) => them.map((it) => it.fix);
  assert.deepEqual(ids(ordered(queue)), ['fix-7', 'fix-2', 'fix-4', 'fix-6', 'fix-1']);
  assert.deepEqual(ids(waiting(queue)), ['fix-7', 'fix-2']);
});

test('a list replaces the proposals of its folder only', () => {
  const both = withList(withList(EMPTY_QUEUE, '/p', [summary('fix-1')]), '/q', [
    summary('fix-1'),
    summary('fix-2'),
  ]);
  assert.equal(both.size, 3);
  const left = withList(both, '/q', [summary('fix-2')]);
  assert.deepEqual(
    waiting(left).map((it) => `${it.root} ${it.fix}`),
    ['/p fix-1', '/q fix-2'],
  );
});

test('problems of a folder are those of the newest answer, until it is removed', () => {
  const inquiry = new ProposalQueries();
  const [runs, old, newer] = [inquiry.begin(), inquiry.begin('/p'), inquiry.begin('/p')];
  assert.ok(inquiry.finish(runs, ['no runs']));
  assert.ok(inquiry.finish(newer, [], '/p'));
  assert.ok(!inquiry.finish(old, ['it failed before'], '/p'));
  assert.deepEqual([inquiry.problems, inquiry.folders], [['no runs'], ['/p']]);
  assert.ok(inquiry.finish(inquiry.begin(), []));
  assert.deepEqual(inquiry.problems, []);
  const last = inquiry.begin('/p');
  inquiry.forget('/p');
  assert.ok(!inquiry.finish(last, ['too late'], '/p'));
  assert.deepEqual([inquiry.problems, inquiry.folders, inquiry.has('/p')], [[], [], false]);
});

test('proposals of removed folders are removed', () => {
  const both = withList(withList(EMPTY_QUEUE, '/p', [summary('fix-1')]), '/q', [summary('fix-2')]);
  const left = without(both, (root) => root === '/p');
  assert.deepEqual(
    waiting(left).map((it) => it.root),
    ['/q'],
  );
  assert.deepEqual(
    departed(both, left).map((it) => it.fix),
    ['fix-1'],
  );
  const table: [string[], string | undefined, boolean][] = [
    [['/p'], '/p', true],
    [['/q', '/p'], '/p/grown', true],
    [['/p'], '/pine', false],
    [['/p/grown'], '/p', false],
    [[], '/p', false],
    [['/p'], undefined, false],
  ];
  for (const [folders, path, wanted] of table) assert.equal(isBelow(folders, path), wanted, path);
});

test('only a decided proposal is removed at once', () => {
  const queue = withList(EMPTY_QUEUE, '/p', [summary('fix-1'), summary('fix-2')]);
  const table: [TrellisEvent & { type: 'proposal' }, number][] = [
    [told('fix-1', 'accepted'), 1],
    [told('fix-1', 'rejected'), 1],
    [told('fix-1', 'stale'), 2],
    [told('fix-1', 'accepted', '/q'), 2],
    [told('fix-9', 'waiting'), 2],
  ];
  for (const [event, size] of table) {
    const after = applyEvent(queue, event);
    assert.equal(after.size, size, JSON.stringify(event));
    if (size === 2) assert.equal(after, queue);
  }
});

test('arrived proposals wait now and did not before', () => {
  const before = withList(EMPTY_QUEUE, '/p', [summary('fix-1'), summary('fix-2', 'stale')]);
  const now = withList(before, '/p', [
    summary('fix-1'),
    summary('fix-2'),
    summary('fix-3'),
    summary('fix-4', 'failed'),
  ]);
  assert.deepEqual(
    arrived(before, now).map((it) => it.fix),
    ['fix-2', 'fix-3'],
  );
  assert.deepEqual(arrived(now, now), []);
});

const place: TextRef = { root: '/p q', fix: 'fix-1', revision: 2, path: 'shop/a.py', side: 'base' };

test('a URI contains the identity of its text, and others are refused', () => {
  for (const scheme of [PROPOSAL_SCHEME, EDIT_SCHEME]) {
    const address = uriPartsOf(scheme, place);
    assert.equal(address.path, '/trellis.fix/fix-1/shop/a.py');
    assert.deepEqual(textRefOf(address), place);
  }
  const { query, path } = uriPartsOf(PROPOSAL_SCHEME, place);
  for (const strange of [
    { scheme: 'file', path, query },
    { scheme: PROPOSAL_SCHEME, path, query: '' },
    { scheme: PROPOSAL_SCHEME, path, query: '{' },
    { scheme: PROPOSAL_SCHEME, path, query: '[]' },
    { scheme: PROPOSAL_SCHEME, path, query: JSON.stringify({ ...place, side: 'other' }) },
    { scheme: PROPOSAL_SCHEME, path, query: JSON.stringify({ ...place, revision: '2' }) },
    { scheme: PROPOSAL_SCHEME, path, query: JSON.stringify({ ...place, root: null }) },
  ]) {
    assert.equal(textRefOf(strange), undefined, strange.query);
  }
});

test('only rows and arguments of lenses name a proposal', () => {
  const lens = { root: '/p', fix: 'fix-1', revision: 3, hunks: [2, 'x'] };
  assert.deepEqual(proposalRefOf(lens), { root: '/p', fix: 'fix-1' });
  assert.deepEqual(reviewedOf(lens), { revision: 3, hunks: [2] });
  for (const it of [undefined, null, 'fix-1', {}, { root: '/p' }]) {
    assert.equal(proposalRefOf(it), undefined);
    assert.deepEqual(reviewedOf(it), { hunks: [] });
  }
  const other = { root: '/q', fix: 'fix-1' };
  assert.equal(isSameProposal(lens, other), false);
  assert.notEqual(proposalKey(lens), proposalKey(other));
});

const hunk = (id: number, newStart: number, newLines: string[] = ['x']) => ({
  id,
  header: '@@',
  oldStart: newStart,
  oldLines: ['y'],
  newStart,
  newLines,
});

const full = (node: string | null, hunks: ReturnType<typeof hunk>[], reason = 'why\nmore'): FixResult => ({
  ...summary('fix-1'),
  revision: 3,
  reason,
  node,
  hunks: hunks.length,
  files: [{ path: 'shop/a.py', base: 'y\n', proposed: 'x\n', hunks }],
  diff: '',
  affected: [],
  failing: [],
  history: [],
});

function shown(fix: FixResult, lines: number) {
  const [file] = fix.files;
  assert.ok(file);
  return proposalLenses('/p', fix, file, lines, words);
}

test('the first line has lenses for the proposal, each hunk has its own', () => {
  const all = shown(full(null, [hunk(1, 1), hunk(2, 7)]), 9);
  assert.deepEqual(
    all.map(({ line, title, command }) => [line, title, command]),
    [
      [0, '$(check) Accept', 'trellis.acceptFix'],
      [0, '$(close) Reject', 'trellis.rejectFix'],
      [0, '$(edit) Edit', 'trellis.editFix'],
      [0, '$(check) Accept hunk', 'trellis.acceptHunk'],
      [0, '$(close) Reject hunk', 'trellis.rejectHunk'],
      [6, '$(check) Accept hunk', 'trellis.acceptHunk'],
      [6, '$(close) Reject hunk', 'trellis.rejectHunk'],
      [
        0,
        'Fixes 2 of 3 failing tests · 5 others still pass · 1 of 2 hunks covered by no test',
        'trellis.explainFix',
      ],
      [0, 'The sign was wrong.', 'trellis.explainFix'],
    ],
  );
  const of = { root: '/p', fix: 'fix-1', revision: 3 };
  assert.deepEqual(all[0]?.argument, of);
  assert.deepEqual(all[5]?.argument, { ...of, hunks: [2] });
});

test('every lens is on an existing line', () => {
  const lines = (start: number) =>
    shown(full(null, [hunk(1, start, []), hunk(2, 9)]), 5).find((it) => it.command === 'trellis.acceptHunk')
      ?.line;
  assert.deepEqual([lines(6), lines(0), lines(5)], [4, 0, 4]);
});

test('a hunk of a draft is accepted alone, and the only hunk of a fix is the fix', () => {
  const titles = (fix: FixResult) => shown(fix, 9).map((it) => it.title);
  const alone = '$(check) Accept only this hunk';
  assert.ok(titles(full('n', [hunk(1, 1), hunk(2, 4)])).includes(alone));
  assert.ok(!titles(full('n', [hunk(1, 1)])).some((it) => it.includes('hunk')));
});

test('a long explanation is shortened, and without one a draft has the reason', () => {
  const titles = (fix: FixResult) => shown(fix, 9).map((it) => it.title);
  const long = titles({ ...full(null, [hunk(1, 1)]), explanation: 'a'.repeat(200) }).at(-1);
  assert.deepEqual([long?.length, long?.at(-1)], [100, '…']);
  const draft = { ...full('n', [hunk(1, 1)]), facts: null, explanation: null };
  assert.equal(titles(draft).at(-1), 'why');
  assert.equal(titles({ ...draft, reason: '' }).at(-1), '$(edit) Edit');
});

test('facts are what test runs showed, never a number for all of them', () => {
  const facts = { fixed: 1, failing: 1, stillPassing: 1, uncoveredHunks: [] };
  const table: [KnownFacts, string][] = [
    [{ facts, hunks: 1 }, 'fixes the failing test · 1 other still passes'],
    [{ facts: { ...facts, stillPassing: 0 }, hunks: 1 }, 'fixes the failing test'],
    [
      { facts: { ...facts, uncoveredHunks: [1] }, hunks: 1 },
      'fixes the failing test · 1 other still passes · covered by no test',
    ],
    [
      { facts: { ...facts, uncoveredHunks: null }, hunks: 1 },
      'fixes the failing test · 1 other still passes · coverage not measured',
    ],
    [{ facts: null, hunks: 1 }, ''],
    [
      { facts, hunks: 1, foundBy: 'smallEdits' },
      'proven small edit, no model asked · fixes the failing test · 1 other still passes',
    ],
  ];
  for (const [fix, wanted] of table) assert.equal(factPhrases(fix, words).join(' · '), wanted);
});

test('the hunk at the caret is the one with its line, or with the gap beside it', () => {
  const hunks = [
    { ...hunk(1, 3, ['a', 'b']), oldStart: 3, oldLines: [] },
    { ...hunk(2, 9, []), oldStart: 7, oldLines: ['c'] },
  ];
  const at = (side: 'base' | 'proposed', lines: number[]) =>
    lines.map((line) => hunkAt({ hunks }, side, line));
  assert.deepEqual(at('proposed', [2, 3, 4, 5, 7, 8, 9, 10]), [
    undefined,
    1,
    1,
    undefined,
    undefined,
    2,
    2,
    undefined,
  ]);
  assert.deepEqual(at('base', [1, 2, 3, 4, 7, 8]), [undefined, 1, 1, undefined, 2, undefined]);
});

test('an edited text has lenses to accept and to discard it', () => {
  const of = { root: '/p', fix: 'fix-1', revision: 3 };
  assert.deepEqual(
    editLenses(of, words).map((it) => [it.line, it.command, it.argument]),
    [
      [0, 'trellis.acceptEdited', of],
      [0, 'trellis.leaveDraft', of],
    ],
  );
});

test('a row has file and facts, and the state if it is not waiting', () => {
  const row = rowOf({ ...summary('fix-1'), root: '/p' }, words);
  assert.deepEqual(
    [row.label, row.description, row.context],
    [
      'shop/a.py',
      'fix-1 · Fixes 2 of 3 failing tests · 5 others still pass · 1 of 2 hunks covered by no test',
      'fix waiting',
    ],
  );
  const tooltip = row.tooltip.join('\n');
  for (const it of ['The sign was wrong.', '• 5 others still pass', 'test_a.py::t', 'AssertionError: no']) {
    assert.ok(tooltip.includes(it), it);
  }
  const draft = rowOf({ ...summary('fix-1', 'stale'), node: 'square', root: '/p' }, words);
  assert.deepEqual([draft.label, draft.context], ['square', 'fix stale draft']);
  assert.ok(draft.description.startsWith('fix-1 · stale: a file has changed · '));
});

test('one new proposal is named, several are counted', () => {
  const one = { ...summary('fix-1'), root: '/p' };
  assert.equal(
    arrivalText([one], words),
    'fix-1 for shop/a.py is ready for review: fixes 2 of 3 failing tests, 5 others still pass, 1 of 2 hunks covered by no test.',
  );
  assert.equal(arrivalText([one, one], words), '2 proposed fixes are ready for review.');
});

const decided = (state: State, more: Partial<DecideFixResult> = {}): DecideFixResult => ({
  ...summary('fix-1', state),
  edit: null,
  written: [],
  tests: [],
  mended: [],
  rebased: [],
  notes: [],
  ...more,
});

test('the message about a decision has its outcome and the next action', () => {
  const written = { edit: 4, written: ['a.py', 'b.py'] };
  const undo = 'trellis.undoFix';
  const table: [DecideFixResult, string, string | undefined, boolean][] = [
    [decided('accepted', written), 'fix-1 was accepted and written to a.py, b.py.', undo, true],
    [
      decided('accepted', { node: 'n' }),
      'fix-1 was accepted. The run now tests it and writes it.',
      undefined,
      true,
    ],
    [decided('accepted'), 'fix-1 has nothing left to review.', undefined, true],
    [decided('rejected'), 'fix-1 was rejected. Nothing was written.', undefined, true],
    [
      decided('waiting', { ...written, hunks: 1 }),
      'Part of fix-1 was accepted and written to a.py, b.py. Hunks left to review: 1.',
      undo,
      false,
    ],
    [decided('waiting', { hunks: 1 }), 'fix-1: Hunks left to review: 1.', undefined, false],
    [
      decided('failed', { notes: ['nothing was written: t fails'] }),
      'fix-1 was not accepted. Nothing was written: t fails. Edit it, or accept other hunks.',
      'trellis.editFix',
      false,
    ],
  ];
  for (const [result, text, command, settled] of table) {
    const said = decisionMessage(result, words);
    assert.deepEqual([said.text, said.action?.command, said.isSettled], [text, command, settled]);
  }
});

test('the message about an undo has what was undone and what remains', () => {
  const step = (what: string, edit?: number) => ({ at: '', what, note: '', ...(edit ? { edit } : {}) });
  const parts = [step('proposed'), step('acceptHunks', 1), step('rejectHunks'), step('acceptHunks', 2)];
  const table: [ReturnType<typeof step>[], string][] = [
    [[step('proposed'), step('accept', 1), step('undone', 2)], 'fix-1 was undone. Restored: shop/a.py.'],
    [[...parts, step('undone', 3)], 'The last part of fix-1 was undone. The part accepted earlier remains.'],
    [
      [...parts, step('acceptHunks', 3), step('undone', 4)],
      'The last part of fix-1 was undone. The 2 parts accepted earlier remain.',
    ],
    [[...parts, step('undone', 3), step('undone', 4)], 'fix-1 was undone. Restored: shop/a.py.'],
  ];
  for (const [history, wanted] of table)
    assert.equal(undoneText('fix-1', ['shop/a.py'], history, words), wanted);
});

test("the remedy of an error is the sidecar's, whatever the text", () => {
  const table: [unknown, string | undefined][] = [
    ['rebase', 'rebase'],
    ['review', 'review'],
    ['burn', undefined],
    [undefined, undefined],
    [1, undefined],
  ];
  for (const [remedy, wanted] of table) {
    const data = { kind: 'stale', hint: 'decide `rebase`, look at it again', remedy };
    assert.equal(toTrellisError({ message: 'no', code: 65, data }).remedy, wanted, String(remedy));
  }
});

test('titles and picker items name file and proposal', () => {
  assert.equal(tabTitle(summary('fix-1'), 'shop/a.py', words), 'a.py (fix-1)');
  assert.equal(tabTitle(summary('fix-1'), 'a.py', words), 'a.py (fix-1)');
  assert.deepEqual(pickItem(summary('fix-1', 'accepted'), words), {
    label: 'fix-1',
    description: 'shop/a.py · accepted',
  });
});
