// What is said of proposals and of decisions: words, made of data.

import type { ConfidenceShape, DecideFixResult, FixResult, FixSummary, State, Step } from '../protocol';
import type { Translate } from '../translate';
import type { Proposal } from './queue';

export function percent(share: number): number {
  return Math.round(share * 100);
}

export function confidenceWords({ total }: ConfidenceShape, t: Translate): string {
  return t('confidence {0}%', percent(total));
}

export function stateWords(state: State, t: Translate): string {
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

/** A row of the view. */
export interface Row {
  readonly label: string;
  readonly description: string;
  /** Markdown, without links or commands; what comes from elsewhere is quoted. */
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
  const state = fix.state === 'waiting' ? [] : [stateWords(fix.state, t)];
  const sure = confidenceWords(fix.confidence, t);
  const { diagnostic, fix: tests, coverage } = fix.confidence;
  return {
    label: fix.node ?? fix.paths.join(', '),
    description: [fix.fix, ...state, sure, fix.reason].join(' · '),
    tooltip: [
      `${fix.fix}: ${fix.paths.join(', ')}`,
      fix.reason,
      t(
        'confidence {0}%: cause located {1}%, tests passing {2}%, changed lines covered {3}%',
        percent(fix.confidence.total),
        percent(diagnostic),
        percent(tests),
        percent(coverage),
      ),
      `${fix.test.id}\n${fix.test.message}`,
      stateWords(fix.state, t),
    ],
    icon: ICONS[fix.state],
    context: `fix ${fix.state}${fix.node ? ' draft' : ''}`,
  };
}

/** Of those that have come: one by its name, several by their number. */
export function arrivalWords(fixes: readonly Proposal[], t: Translate): string {
  const [first, ...more] = fixes;
  if (first === undefined || more.length > 0) {
    return t('{0} proposed fixes are ready for review.', fixes.length);
  }
  const sure = confidenceWords(first.confidence, t);
  const paths = first.paths.join(', ');
  // Named, since the editor shows what is said twice in the same words only once.
  return t('{0} for {1} is ready for review: {2}, {3}.', first.fix, paths, first.test.id, sure);
}

/** What a person may do about what is said: a command, which is given the proposal. */
export interface Offer {
  readonly title: string;
  readonly command: string;
}

/** What came of a decision. */
export interface Said {
  readonly text: string;
  /** Such as taking back what was written. */
  readonly offer?: Offer;
  /** Whether nothing is left to decide. */
  readonly settled: boolean;
}

export function decidedWords(result: DecideFixResult, t: Translate): Said {
  const { fix, state, hunks, written, notes, edit } = result;
  const isWritten = typeof edit === 'number';
  const settled = state === 'accepted' || state === 'rejected';
  const files = written.join(', ');
  const failed = state === 'failed';
  const advice = failed ? [t('Edit it, or accept other hunks.')] : [];
  const text = [headline(), ...mends(), ...notes.map(sentence), ...advice].join(' ');
  const offer = isWritten ? undoing(t) : failed ? editing(t) : undefined;
  return { text, ...(offer === undefined ? {} : { offer }), settled };

  /** More than the one that it was made for. */
  function mends(): string[] {
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
 * What undoing did: it takes what was accepted last out of the files.
 * @param history of the proposal, with what was undone
 */
export function undoneWords(
  fix: string,
  written: readonly string[],
  history: readonly Step[],
  t: Translate,
): string {
  const left = accepted(history);
  if (left === 0) return t('{0} was undone. Restored: {1}.', fix, written.join(', '));
  if (left === 1) return t('The last part of {0} was undone. The part accepted earlier remains.', fix);
  return t('The last part of {0} was undone. The {1} parts accepted earlier remain.', fix, left);
}

/** How many parts that were accepted are in the files. */
function accepted(history: readonly Step[]): number {
  const written = history.filter((it) => typeof it.edit === 'number');
  return written.reduce((count, it) => count + (it.what === 'undone' ? -1 : 1), 0);
}

function undoing(t: Translate): Offer {
  return { title: t('Undo'), command: 'trellis.undoFix' };
}

function editing(t: Translate): Offer {
  return { title: t('Edit'), command: 'trellis.editFix' };
}

/** The sidecar's notes are phrases. */
function sentence(note: string): string {
  const ended = /[.!?…]$/.test(note) ? note : `${note}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

/** Title of a tab. */
export function titleOf(fix: FixResult | FixSummary, path: string, t: Translate): string {
  return t('{0} ({1})', path.slice(path.lastIndexOf('/') + 1), fix.fix);
}

export function pickOf(fix: FixSummary, t: Translate): { label: string; description: string } {
  return { label: fix.fix, description: `${fix.paths.join(', ')} · ${stateWords(fix.state, t)}` };
}
