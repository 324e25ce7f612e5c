// The lenses over a proposal: which there are, over which line.

import type { FileShape, FixResult } from '../protocol';
import type { Translate } from '../translate';
import { confidenceWords } from './words';

export interface Lens {
  /** From 0. */
  readonly line: number;
  readonly title: string;
  readonly command: string;
  readonly given: Given;
}

/** What a lens hands to its command. */
export interface Given {
  readonly root: string;
  readonly fix: string;
  readonly revision: number;
  readonly hunks?: readonly number[];
}

/**
 * Over the proposed text of a file: what can be done with all of it, then with each piece; what is only to be read comes
 * last, since lines end at the edge of the window.
 * @param lines of the document, at least 1
 */
export function lensesOf(
  root: string,
  fix: FixResult,
  file: FileShape,
  lines: number,
  t: Translate,
): readonly Lens[] {
  const of: Given = { root, fix: fix.fix, revision: fix.revision };
  const hunks = file.hunks.flatMap((it) => hunkOf(of, fix, it, lines, t));
  return [...wholeOf(of, t), ...hunks, ...aboutOf(of, fix, t)];
}

function wholeOf(given: Given, t: Translate): Lens[] {
  const lens = (title: string, command: string): Lens => ({ line: 0, title, command, given });
  return [
    lens(`$(check) ${t('Accept')}`, 'trellis.acceptFix'),
    lens(`$(close) ${t('Reject')}`, 'trellis.rejectFix'),
    lens(`$(edit) ${t('Edit')}`, 'trellis.editFix'),
  ];
}

function aboutOf(given: Given, fix: FixResult, t: Translate): Lens[] {
  const lens = (title: string, command: string): Lens => ({ line: 0, title, command, given });
  return [
    lens(confidenceWords(fix.confidence, t), 'trellis.explainFix'),
    lens(`$(beaker) ${t('Failing test')}`, 'trellis.openFailingTest'),
    ...(fix.reason === '' ? [] : [lens(short(fix.reason), 'trellis.explainFix')]),
  ];
}

function hunkOf(
  of: Given,
  fix: FixResult,
  hunk: FileShape['hunks'][number],
  lines: number,
  t: Translate,
): Lens[] {
  // What only goes at the end comes before a line that is not there.
  const line = Math.min(Math.max(hunk.newStart - 1, 0), lines - 1);
  const given: Given = { ...of, hunks: [hunk.id] };
  // The run takes what is accepted of its draft and goes on: the rest waits no more.
  const accept = fix.node && fix.hunks > 1 ? t('Accept only this hunk') : t('Accept hunk');
  return [
    { line, title: `$(check) ${accept}`, command: 'trellis.acceptHunk', given },
    { line, title: `$(close) ${t('Reject hunk')}`, command: 'trellis.rejectHunk', given },
  ];
}

/** Over a text that a person edits. */
export function editLenses(of: Given, t: Translate): readonly Lens[] {
  return [
    { line: 0, title: `$(check) ${t('Accept edited')}`, command: 'trellis.acceptEdited', given: of },
    {
      line: 0,
      title: `$(discard) ${t('Back to proposal')}`,
      command: 'trellis.leaveDraft',
      given: of,
    },
  ];
}

/** So many characters of a reason fit over a line. */
const MOST = 100;

function short(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.length > MOST ? `${line.slice(0, MOST - 1)}…` : line;
}
