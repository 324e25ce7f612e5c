// Lenses of a proposal, with their lines.

import type { FileShape, FixResult } from '../protocol';
import type { Translate } from '../translate';
import { factsText } from './facts_text';

export interface Lens {
  /** Line, from 0. */
  readonly line: number;
  readonly title: string;
  readonly command: string;
  readonly argument: LensArgument;
}

/** Argument of a lens's command. */
export interface LensArgument {
  readonly root: string;
  readonly fix: string;
  readonly revision: number;
  readonly hunks?: readonly number[];
}

/**
 * Makes the lenses over the proposed text of a file: decisions about the whole, then about hunks, then what is known,
 * since a long line ends at the edge of the window. Only a proposal with several hunks has decisions about each.
 * @param lines number of lines of the document, at least 1
 */
export function proposalLenses(
  root: string,
  fix: FixResult,
  file: FileShape,
  lines: number,
  t: Translate,
): readonly Lens[] {
  const argument: LensArgument = { root, fix: fix.fix, revision: fix.revision };
  const hunks = file.hunks.flatMap((it) => hunkLenses(argument, fix, it, lines, t));
  const facts = factsText(fix, t);
  const known: Lens[] =
    facts === '' ? [] : [{ line: 0, title: facts, command: 'trellis.explainFix', argument }];
  return [
    ...decisionLenses(argument, t),
    ...hunks,
    ...known,
    ...explanationLens(argument, fix, file, lines, t),
  ];
}

function decisionLenses(given: LensArgument, t: Translate): Lens[] {
  const lens = (title: string, command: string): Lens => ({ line: 0, title, command, argument: given });
  return [
    lens(`$(check) ${t('Accept')}`, 'trellis.acceptFix'),
    lens(`$(close) ${t('Reject')}`, 'trellis.rejectFix'),
    lens(`$(edit) ${t('Edit')}`, 'trellis.editFix'),
  ];
}

/** Makes the lens above the first hunk of a file that says why it is proposed. */
function explanationLens(
  argument: LensArgument,
  fix: FixResult,
  { hunks }: FileShape,
  lines: number,
  t: Translate,
): Lens[] {
  const [first] = hunks;
  const why = fix.explanation ?? (factsText(fix, t) === '' ? fix.reason : '');
  if (first === undefined || why === '') return [];
  return [{ line: lineOf(first, lines), title: shortened(why), command: 'trellis.explainFix', argument }];
}

function hunkLenses(
  argument: LensArgument,
  fix: FixResult,
  hunk: FileShape['hunks'][number],
  lines: number,
  t: Translate,
): Lens[] {
  if (fix.hunks === 1) return [];
  const line = lineOf(hunk, lines);
  const given: LensArgument = { ...argument, hunks: [hunk.id] };
  // The run takes the accepted hunks of its draft and continues; the others are dropped.
  const accept = fix.node ? t('Accept only this hunk') : t('Accept hunk');
  return [
    { line, title: `$(check) ${accept}`, command: 'trellis.acceptHunk', argument: given },
    { line, title: `$(close) ${t('Reject hunk')}`, command: 'trellis.rejectHunk', argument: given },
  ];
}

function lineOf({ newStart }: FileShape['hunks'][number], lines: number): number {
  // A hunk that only deletes at the end precedes a line that does not exist.
  return Math.min(Math.max(newStart - 1, 0), lines - 1);
}

/** Makes the lenses over a text that a person edits. */
export function editLenses(argument: LensArgument, t: Translate): readonly Lens[] {
  return [
    { line: 0, title: `$(check) ${t('Accept edited')}`, command: 'trellis.acceptEdited', argument: argument },
    {
      line: 0,
      title: `$(discard) ${t('Back to proposal')}`,
      command: 'trellis.leaveDraft',
      argument: argument,
    },
  ];
}

/** Maximal number of characters of a reason in a lens. */
const MAX_REASON = 100;

function shortened(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON - 1)}…` : line;
}
