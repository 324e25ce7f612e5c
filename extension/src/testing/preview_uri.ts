// URIs of the texts of previewed tests.

import { fields } from '../unknown_value';

/** Scheme of texts of generated tests that are not written yet. */
export const PREVIEW_SCHEME = 'trellis-tests';

/** The parts of a URI that are used. */
export interface PreviewUriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** The test file before, or with the generated tests. */
export interface PreviewText {
  /** Id of the preview. */
  readonly id: string;
  readonly side: 'base' | 'proposed';
}

/** @param path test file, relative to the root */
export function previewUriParts({ id, side }: PreviewText, path: string): PreviewUriParts {
  return { scheme: PREVIEW_SCHEME, path: `/${path}`, query: JSON.stringify({ id, side }) };
}

/** Reads a URI; `undefined` for URIs of others. */
export function previewTextOf({ scheme, query }: PreviewUriParts): PreviewText | undefined {
  if (scheme !== PREVIEW_SCHEME) return undefined;
  const { id, side } = parsed(query);
  if (typeof id !== 'string' || (side !== 'base' && side !== 'proposed')) return undefined;
  return { id, side };
}

function parsed(query: string): Readonly<Record<string, unknown>> {
  try {
    return fields(JSON.parse(query));
  } catch {
    // A URI may be made up by anybody.
    return {};
  }
}
