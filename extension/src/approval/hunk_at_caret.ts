// The hunk at the caret of a difference, for decisions by keyboard.
import { l10n, window } from 'vscode';
import type { FileShape } from '../protocol';
import { TrellisError } from '../sidecar/api';
import type { LensArgument } from './lens_list';
import type { ProposalTexts } from './proposal_documents';
import { PROPOSAL_SCHEME, type Side, textRefOf } from './proposal_uri';

/**
 * Returns the hunk at the caret of the active difference.
 * @throws a {@link TrellisError} if the caret is in no hunk
 */
export async function hunkAtCaret(texts: ProposalTexts): Promise<LensArgument | undefined> {
  const active = window.activeTextEditor;
  const place = active?.document.uri.scheme === PROPOSAL_SCHEME ? textRefOf(active.document.uri) : undefined;
  if (active === undefined || place === undefined) return undefined;
  const { root, fix, revision, side } = place;
  const { file } = await texts.find(place);
  const hunk = hunkAt(file, side, active.selection.active.line + 1);
  if (hunk !== undefined) return { root, fix, revision, hunks: [hunk] };
  const hint = l10n.t('move it into a change: F7 goes to the next one');
  throw new TrellisError(l10n.t('the cursor is in no change'), 65, hint, 'badInput');
}

/**
 * Returns the id of the hunk with a line of a side, from 1. A hunk without lines on that side is at the lines around
 * its gap.
 */
export function hunkAt({ hunks }: Pick<FileShape, 'hunks'>, side: Side, line: number): number | undefined {
  const isAt = (start: number, length: number) =>
    length === 0 ? line === start - 1 || line === start : line >= start && line < start + length;
  return hunks.find((it) =>
    side === 'base' ? isAt(it.oldStart, it.oldLines.length) : isAt(it.newStart, it.newLines.length),
  )?.id;
}
