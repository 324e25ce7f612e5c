// Texts about proposals and decisions.

import type { DecideFixResult, FixResult, FixSummary, HistoryEntry, State } from '../protocol';
import { capitalized, sentence } from '../sentence';
import type { Translate } from '../translate';
import { factPhrases, factsText } from './facts_text';
import type { Proposal } from './queue';

export function stateText(state: State, t: Translate): string {
  const all: Record<State, string> = {
    waiting: t('ready for review'),
    accepted: t('accepted'),
    rejected: t('rejected'),
    stale: t('stale: a file has changed'),
    undone: t('undone'),
    failed: t('not written: tests failed'),
  };
  return all[state];
}

/** A row of the list of proposals. */
export interface Row {
  readonly label: string;
  readonly description: string;
  /** Paragraphs of Markdown without links or commands; foreign text is escaped. */
  readonly tooltip: readonly string[];
  readonly icon: string;
  readonly context: string;
}

const ICONS: Record<State, string> = {
  waiting: 'git-pull-request',
  stale: 'history',
  failed: 'error',
  undone: 'discard',
  accepted: 'pass',
  rejected: 'circle-slash',
};

export function rowOf(fix: Proposal, t: Translate): Row {
  const state = fix.state === 'waiting' ? [] : [stateText(fix.state, t)];
  const known = factsText(fix, t) || fix.reason;
  return {
    label: fix.node ?? fix.paths.join(', '),
    description: [fix.fix, ...state, known].join(' · '),
    tooltip: [`${fix.fix}: ${fix.paths.join(', ')}`, ...explanationOf(fix, t), stateText(fix.state, t)],
    icon: ICONS[fix.state],
    context: `fix ${fix.state}${fix.node ? ' draft' : ''}`,
  };
}

/** Returns all that is known of a proposal, as paragraphs. */
export function explanationOf(fix: FixSummary, t: Translate): readonly string[] {
  const { explanation, test, reason } = fix;
  const facts = factPhrases(fix, t).map((it) => `• ${capitalized(it)}`);
  return [
    ...(explanation ? [explanation] : []),
    ...(facts.length === 0 ? [] : [facts.join('\n')]),
    ...(facts.length === 0 && reason !== '' ? [reason] : []),
    `${test.id}\n${test.message}`,
  ];
}

/** Describes new proposals: one by its name, several by their number. */
export function arrivalText(fixes: readonly Proposal[], t: Translate): string {
  const [first, ...more] = fixes;
  if (first === undefined || more.length > 0) {
    return t('{0} proposed fixes are ready for review.', fixes.length);
  }
  const paths = first.paths.join(', ');
  const known = factPhrases(first, t).join(', ') || first.test.id;
  // With the name, since the editor shows equal messages only once.
  return t('{0} for {1} is ready for review: {2}.', first.fix, paths, known);
}

/** Action of a message: a command with the proposal as its argument. */
export interface MessageAction {
  readonly title: string;
  readonly command: string;
}

/** Message about a decision. */
export interface DecisionMessage {
  readonly text: string;
  /** Action such as undoing the decision. */
  readonly action?: MessageAction;
  /** Whether nothing is left to decide. */
  readonly isSettled: boolean;
}

export function decisionMessage(result: DecideFixResult, t: Translate): DecisionMessage {
  const { fix, state, hunks, written, notes, edit } = result;
  const isWritten = typeof edit === 'number';
  const isSettled = state === 'accepted' || state === 'rejected';
  const files = written.join(', ');
  const failed = state === 'failed';
  const advice = failed ? [t('Edit it, or accept other hunks.')] : [];
  const text = [headline(), ...fixedTests(), ...notes.map(sentence), ...advice].join(' ');
  const action = isWritten ? undoAction(t) : failed ? editAction(t) : undefined;
  return { text, ...(action === undefined ? {} : { action: action }), isSettled: isSettled };

  /** Mentions that the fix fixes more than one test. */
  function fixedTests(): string[] {
    const count = result.mended.length;
    return isWritten && count > 1 ? [t('It fixes {0} failing tests.', count)] : [];
  }

  function headline(): string {
    if (failed) return t('{0} was not accepted.', fix);
    if (state === 'rejected') return t('{0} was rejected. Nothing was written.', fix);
    if (state === 'accepted' && !isWritten && result.node) {
      return t('{0} was accepted. The run now tests it and writes it.', fix);
    }
    if (state === 'accepted') {
      return isWritten
        ? t('{0} was accepted and written to {1}.', fix, files)
        : t('{0} has nothing left to review.', fix);
    }
    const left = t('Hunks left to review: {0}.', hunks);
    return isWritten
      ? `${t('Part of {0} was accepted and written to {1}.', fix, files)} ${left}`
      : `${fix}: ${left}`;
  }
}

/**
 * Describes an undone decision, which removes the last accepted part from the files.
 * @param history of the proposal, with what was undone
 */
export function undoneText(
  fix: string,
  written: readonly string[],
  history: readonly HistoryEntry[],
  t: Translate,
): string {
  const left = acceptedParts(history);
  if (left === 0) return t('{0} was undone. Restored: {1}.', fix, written.join(', '));
  if (left === 1) return t('The last part of {0} was undone. The part accepted earlier remains.', fix);
  return t('The last part of {0} was undone. The {1} parts accepted earlier remain.', fix, left);
}

/** Counts the accepted parts in the files. */
function acceptedParts(history: readonly HistoryEntry[]): number {
  const written = history.filter((it) => typeof it.edit === 'number');
  return written.reduce((count, it) => count + (it.what === 'undone' ? -1 : 1), 0);
}

function undoAction(t: Translate): MessageAction {
  return { title: t('Undo'), command: 'trellis.undoFix' };
}

function editAction(t: Translate): MessageAction {
  return { title: t('Edit'), command: 'trellis.editFix' };
}

/** Makes the title of a tab. */
export function tabTitle(fix: FixResult | FixSummary, path: string, t: Translate): string {
  return t('{0} ({1})', path.slice(path.lastIndexOf('/') + 1), fix.fix);
}

export function pickItem(fix: FixSummary, t: Translate): { label: string; description: string } {
  return { label: fix.fix, description: `${fix.paths.join(', ')} · ${stateText(fix.state, t)}` };
}

/** Numbers of what waits for the person. */
export interface WaitingCounts {
  readonly fixes: number;
  readonly issues: number;
  /** Functions with generated tests. */
  readonly tests: number;
}

export function totalOf({ fixes, issues, tests }: WaitingCounts): number {
  return fixes + issues + tests;
}

/** Counts what waits. */
export function waitingCount(counts: WaitingCounts, t: Translate): string {
  const { fixes, issues, tests } = counts;
  const total = totalOf(counts);
  if (total === fixes) return fixes === 1 ? t('1 fix to review') : t('{0} fixes to review', fixes);
  if (total === issues) return issues === 1 ? t('1 issue to review') : t('{0} issues to review', issues);
  if (total === tests) return t('generated tests to review');
  return t('{0} to review', total);
}
