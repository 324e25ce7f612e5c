// Decisions about all proposals at once.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Decisions } from '../../src/approval/decisions';
import type { ProposalRef } from '../../src/approval/proposal_uri';
import { type Proposal, withList } from '../../src/approval/queue';
import { asClient, FakeSidecar, settled } from './fake_sidecar';
import { editor } from './vscode';

beforeEach(() => {
  [editor.said, editor.answer, editor.folders] = [[], undefined, []];
});

/** Makes a proposal that waits. */
function proposal(number: number, given: Partial<Proposal> = {}): Proposal {
  const createdAt = `2026-01-01T00:00:0${number}Z`;
  const own = { root: '/p', fix: `fix-${number}`, state: 'waiting', revision: number, createdAt };
  return { ...own, ...given } as Proposal;
}

/** Makes the result of a decision. */
function decided(state: 'accepted' | 'failed', fix: unknown): object {
  const written = state === 'accepted' ? { written: ['a.py'], edit: 1 } : { written: [] };
  return { fix, state, hunks: 0, notes: [], mended: [], ...written };
}

interface Fixture {
  readonly sidecar: FakeSidecar;
  readonly decisions: Decisions;
  /** Proposals whose tabs were closed. */
  readonly closed: string[];
}

/** @param edited proposals with edits that the person keeps */
function open(proposals: readonly Proposal[], edited: readonly string[] = []): Fixture {
  const sidecar = new FakeSidecar();
  const closed: string[] = [];
  const tabs = { close: async ({ fix }: ProposalRef) => closed.push(fix) };
  const edits = { confirmDiscard: async ({ fix }: ProposalRef) => !edited.includes(fix) };
  const queue = { queue: withList(new Map(), '/p', proposals) };
  const parts = [asClient(sidecar), queue, tabs, edits] as unknown as ConstructorParameters<typeof Decisions>;
  return { sidecar, decisions: new Decisions(...parts), closed };
}

test('all fixes are accepted as they are listed, and the reason of each refusal is given', async () => {
  const draft = proposal(5, { node: 'm.a' });
  const { sidecar, decisions, closed } = open(
    [...[1, 2, 3, 4].map((it) => proposal(it)), draft, proposal(6, { state: 'stale' })],
    ['fix-4'],
  );
  sidecar.answers['trellis/decideFix'] = ({ fix }) => {
    if (fix === 'fix-2') throw new Error('a.py has changed');
    return decided(fix === 'fix-3' ? 'failed' : 'accepted', fix);
  };
  editor.answer = 'Accept 4 Fixes';
  await decisions.acceptAll();
  const sent = sidecar.params('trellis/decideFix');
  assert.deepEqual(
    sent.map(({ fix, decision, revision }) => [fix, decision, revision]),
    [
      ['fix-1', 'accept', 1],
      ['fix-2', 'accept', 2],
      ['fix-3', 'accept', 3],
    ],
  );
  assert.deepEqual(closed, ['fix-1']);
  const [asked, summary] = editor.said;
  assert.equal(asked, 'Accept all fixes?');
  assert.equal(
    summary,
    '1 of 4 fixes were accepted. fix-2: a.py has changed. fix-3 was not accepted. ' +
      'Edit it, or accept other hunks. You are editing fix-4.',
  );
});

test('a fix with a decision under way is left to that decision', async () => {
  const { sidecar, decisions } = open([proposal(1)]);
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  sidecar.answers['trellis/decideFix'] = ({ fix }) => held.then(() => decided('failed', fix));
  const first = decisions.decide({ root: '/p', fix: 'fix-1' }, { decision: 'accept' });
  editor.answer = 'Accept 1 Fix';
  await decisions.acceptAll();
  await settled();
  assert.equal(sidecar.params('trellis/decideFix').length, 1);
  assert.equal(editor.said[1], '0 of 1 fixes were accepted. fix-1 is being decided.');
  end();
  await first;
});

test('nothing is accepted without the answer to the question, or without a fix', async () => {
  const { sidecar, decisions } = open([proposal(1)]);
  await decisions.acceptAll();
  assert.deepEqual(sidecar.requests, []);
  await open([]).decisions.acceptAll();
  assert.deepEqual(editor.said, ['Accept all fixes?', 'No fix to review.']);
});
