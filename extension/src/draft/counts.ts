// The size of a plan in words.
import type { Translate } from '../translate';

/** Counts the files and definitions of a plan. */
export function sizeText(files: number, definitions: number, t: Translate): string {
  const inFiles = files === 1 ? t('1 file') : t('{0} files', files);
  return t('{0}, {1} functions and classes', inFiles, definitions);
}
