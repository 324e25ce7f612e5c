// Changes of issues that wait for the person, as values.

import type { Review } from '../protocol';
import { sentence } from '../sentence';
import type { Translate } from '../translate';
import { fields } from '../unknown_value';

/** Identity of an issue. */
export interface IssueRef {
  /** Folder of the project, absolute. */
  readonly root: string;
  readonly issue: string;
}

/** A change that waits. */
export type IssueReview = Review & IssueRef;

/** A file of a change. */
export interface IssueFile extends IssueRef {
  /** Path relative to the project. */
  readonly path: string;
}

export function issueKey({ root, issue }: IssueRef): string {
  return `${root}\n${issue}`;
}

export function isSameIssue(one: IssueRef, other: IssueRef): boolean {
  return issueKey(one) === issueKey(other);
}

/** Reads the issue that a row or an argument of a command names. */
export function issueRefOf(argument: unknown): IssueRef | undefined {
  const { root, issue } = fields(argument);
  return typeof root === 'string' && typeof issue === 'string' ? { root, issue } : undefined;
}

/** Returns the changes that wait now and did not before: new ones, and those with other commits. */
export function arrivedReviews(
  before: readonly IssueReview[],
  now: readonly IssueReview[],
): readonly IssueReview[] {
  return now.filter((it) => !before.some((old) => isSameIssue(old, it) && old.tip === it.tip));
}

/** Counts tests: failing ones failed before the change, too. */
export function testsText({ passed, failed }: Review['allTests'], t: Translate): string {
  const passing = t('{0} pass', passed);
  return failed === 0 ? passing : `${passing} · ${t('{0} failed before, too', failed)}`;
}

/** A row of the list. */
export interface IssueRow {
  readonly label: string;
  readonly description: string;
  /** Paragraphs. */
  readonly tooltip: readonly string[];
}

export function issueRow(review: IssueReview, t: Translate): IssueRow {
  const { title, refused, branch, into } = review;
  const problem = refused ? [t('not merged')] : [];
  return {
    label: title,
    description: [...problem, testsText(review.allTests, t)].join(' · '),
    tooltip: [
      title,
      ...(refused ? [t('Not merged: {0}.', refused)] : []),
      testsText(review.allTests, t),
      ...[...review.doubts, ...review.notes].map((it) => `• ${it}`),
      t('Branch {0}, for {1}', branch, into),
    ],
  };
}

export function fileRow(file: Review['files'][number], isLeftOut: boolean, t: Translate): string {
  const lines = typeof file.added === 'number' ? [`+${file.added} −${file.removed ?? 0}`] : [];
  return [...lines, ...(isLeftOut ? [t('left out')] : [])].join(' · ');
}

/** Message about a change that waits; a warning after a decision that could not be carried out. */
export function waitingText(review: IssueReview, t: Translate): { text: string; isGood: boolean } {
  if (review.refused)
    return { text: t('{0} was not merged: {1}.', review.title, review.refused), isGood: false };
  const doubts = review.doubts.map((it) => ` ${sentence(it)}`).join('');
  const text = t('{0} is ready for review: {1}.', review.title, testsText(review.allTests, t));
  return { text: text + doubts, isGood: true };
}
