// URIs of the texts of a change. Paths are those of the project, so that tabs show them.

import { fields } from '../unknown_value';
import type { IssueFile } from './reviews';

/** Scheme of texts of issues. */
export const ISSUE_SCHEME = 'trellis-issue';

/** The parts of a URI that are used. */
export interface IssueUriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** A text before the change, or in the worktree. */
export interface IssueText extends IssueFile {
  readonly side: 'base' | 'work';
}

export function issueUriParts({ root, issue, path, side }: IssueText): IssueUriParts {
  return { scheme: ISSUE_SCHEME, path: `/${path}`, query: JSON.stringify({ root, issue, path, side }) };
}

/** Reads a URI; `undefined` for URIs of others. */
export function issueTextOf({ scheme, query }: IssueUriParts): IssueText | undefined {
  if (scheme !== ISSUE_SCHEME) return undefined;
  const { root, issue, path, side } = parsed(query);
  if (typeof root !== 'string' || typeof issue !== 'string' || typeof path !== 'string') return undefined;
  return side === 'base' || side === 'work' ? { root, issue, path, side } : undefined;
}

function parsed(query: string): Readonly<Record<string, unknown>> {
  try {
    return fields(JSON.parse(query));
  } catch {
    // A URI may be made up by anybody.
    return {};
  }
}
