// Which text of which proposal a document of ours shows: said by its address, so that tabs outlive the window.

/** A proposal, among those of all folders. */
export interface Fix {
  /** The project's folder, absolute. */
  readonly root: string;
  /** Such as `fix-1`. */
  readonly fix: string;
}

export type Side = 'base' | 'proposed';

/** One text of one revision. */
export interface Place extends Fix {
  readonly revision: number;
  /** Of the file, relative to the root. */
  readonly path: string;
  readonly side: Side;
}

/** Scheme of texts as the sidecar gives them, which nobody can write. */
export const SHOWN = 'trellis-fix';
/** Scheme of texts that a person may write before they are accepted. */
export const EDITED = 'trellis-edit';

/** What is needed of an address. */
export interface Address {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** Begins the paths of our documents; by it package.json gives them a language of their own, which has lenses in differences. */
const FOLDER = '/trellis.fix';

export function addressOf(scheme: string, place: Place): Address {
  const { root, fix, revision, path, side } = place;
  return {
    scheme,
    path: `${FOLDER}/${fix}/${path}`,
    query: JSON.stringify({ root, fix, revision, path, side }),
  };
}

/** None where it is no address of ours. */
export function placeOf({ scheme, query }: Address): Place | undefined {
  if (scheme !== SHOWN && scheme !== EDITED) return undefined;
  const { root, fix, revision, path, side } = parsed(query);
  if (typeof root !== 'string' || typeof fix !== 'string' || typeof path !== 'string') return undefined;
  if (typeof revision !== 'number' || (side !== 'base' && side !== 'proposed')) return undefined;
  return { root, fix, revision, path, side };
}

export function isSame(one: Fix, other: Fix): boolean {
  return one.root === other.root && one.fix === other.fix;
}

/** Tells proposals of all folders apart. */
export function keyOf({ root, fix }: Fix): string {
  return `${root}\n${fix}`;
}

/** A row, an argument of a lens: whatever names a proposal. */
export function fixOf(given: unknown): Fix | undefined {
  const { root, fix } = fields(given);
  return typeof root === 'string' && typeof fix === 'string' ? { root, fix } : undefined;
}

/** What a lens says beside the proposal: the revision that was looked at, and hunks. */
export function seenOf(given: unknown): { readonly revision?: number; readonly hunks: readonly number[] } {
  const { revision, hunks } = fields(given);
  const ids = Array.isArray(hunks) ? hunks.filter((it) => typeof it === 'number') : [];
  return { ...(typeof revision === 'number' ? { revision } : {}), hunks: ids };
}

function parsed(query: string): Record<string, unknown> {
  try {
    return fields(JSON.parse(query));
  } catch {
    // Anybody may make up an address.
    return {};
  }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
