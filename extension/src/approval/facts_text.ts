// Texts about what is known of a proposal: what its test runs showed, and where it comes from.

import type { FixSummary } from '../protocol';
import { capitalized } from '../sentence';
import type { Translate } from '../translate';

/** The used parts of a proposal. */
export type KnownFacts = Pick<FixSummary, 'facts' | 'foundBy' | 'hunks'>;

/** Describes what the test runs of a proposal showed, as phrases; none if its texts have changed since. */
export function factPhrases({ facts, foundBy, hunks }: KnownFacts, t: Translate): readonly string[] {
  const origin = foundBy === 'smallEdits' ? [t('proven small edit, no model asked')] : [];
  if (!facts) return origin;
  const { fixed, failing, stillPassing, uncoveredHunks } = facts;
  const others = stillPassing === 1 ? t('1 other still passes') : t('{0} others still pass', stillPassing);
  return [
    ...origin,
    failing === 1 ? t('fixes the failing test') : t('fixes {0} of {1} failing tests', fixed, failing),
    ...(stillPassing === 0 ? [] : [others]),
    ...coveragePhrases(uncoveredHunks?.length, hunks, t),
  ];
}

function coveragePhrases(uncovered: number | undefined, hunks: number, t: Translate): readonly string[] {
  if (uncovered === undefined) return [t('coverage not measured')];
  if (uncovered === 0) return [];
  return [hunks === 1 ? t('covered by no test') : t('{0} of {1} hunks covered by no test', uncovered, hunks)];
}

/** Joins the phrases; empty if nothing is known. */
export function factsText(fix: KnownFacts, t: Translate): string {
  return capitalized(factPhrases(fix, t).join(' · '));
}
