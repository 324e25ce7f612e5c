// URIs of documents with texts of proposals. They contain all that is needed, so that tabs outlive the window.

import { fields } from '../unknown_value';

/** Identity of a proposal. */
export interface ProposalRef {
  /** Folder of the project, absolute. */
  readonly root: string;
  /** Id, such as `fix-1`. */
  readonly fix: string;
}

export type Side = 'base' | 'proposed';

/** Identity of a text of one revision. */
export interface TextRef extends ProposalRef {
  readonly revision: number;
  /** Path of the file, relative to the root. */
  readonly path: string;
  readonly side: Side;
}

/** Scheme of read-only texts. */
export const PROPOSAL_SCHEME = 'trellis-fix';
/** Scheme of editable texts. */
export const EDIT_SCHEME = 'trellis-edit';

/** The parts of a URI that are used. */
export interface UriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/**
 * Prefix of the paths; package.json gives files below it a language of their own, for which lenses are shown in diffs.
 */
const PATH_PREFIX = '/trellis.fix';

export function uriPartsOf(scheme: string, ref: TextRef): UriParts {
  const { root, fix, revision, path, side } = ref;
  return {
    scheme,
    path: `${PATH_PREFIX}/${fix}/${path}`,
    query: JSON.stringify({ root, fix, revision, path, side }),
  };
}

/** Reads a URI; `undefined` for URIs of others. */
export function textRefOf({ scheme, query }: UriParts): TextRef | undefined {
  if (scheme !== PROPOSAL_SCHEME && scheme !== EDIT_SCHEME) return undefined;
  const { root, fix, revision, path, side } = parsed(query);
  if (typeof root !== 'string' || typeof fix !== 'string' || typeof path !== 'string') return undefined;
  if (typeof revision !== 'number' || (side !== 'base' && side !== 'proposed')) return undefined;
  return { root, fix, revision, path, side };
}

export function isSameProposal(one: ProposalRef, other: ProposalRef): boolean {
  return one.root === other.root && one.fix === other.fix;
}

/** Makes a key that is unique among all folders. */
export function proposalKey({ root, fix }: ProposalRef): string {
  return `${root}\n${fix}`;
}

/** Reads the proposal that a row or an argument of a lens names. */
export function proposalRefOf(argument: unknown): ProposalRef | undefined {
  const { root, fix } = fields(argument);
  return typeof root === 'string' && typeof fix === 'string' ? { root, fix } : undefined;
}

/** Reads the reviewed revision and the hunks from the argument of a lens. */
export function reviewedOf(argument: unknown): {
  readonly revision?: number;
  readonly hunks: readonly number[];
} {
  const { revision, hunks } = fields(argument);
  const ids = Array.isArray(hunks) ? hunks.filter((it) => typeof it === 'number') : [];
  return { ...(typeof revision === 'number' ? { revision } : {}), hunks: ids };
}

function parsed(query: string): Record<string, unknown> {
  try {
    return fields(JSON.parse(query));
  } catch {
    // A URI may be made up by anybody.
    return {};
  }
}
