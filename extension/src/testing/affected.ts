// Affected tests as the sidecar finds them: those that a run includes, and texts about them.
import type { AffectedTestsResult, ChangedPart } from '../protocol';
import type { Translate } from '../translate';
import { isWithin, outermost } from './ids';

/** Maximal number of changed parts in a text. */
const SHOWN = 5;

/**
 * Returns the affected tests among the included ones.
 * @param included ids; none for the whole project
 */
export function affectedWithin(included: readonly string[], affected: readonly string[]): readonly string[] {
  if (included.length === 0) return outermost([...new Set(affected)]);
  const found = affected.flatMap((id) => {
    if (included.some((it) => isWithin(it, id))) return [id];
    return included.filter((it) => isWithin(id, it));
  });
  return outermost([...new Set(found)]);
}

/** Returns what changed, for the output of a run; `undefined` if no recorded test needs it. */
export function introOf({ changed }: AffectedTestsResult, tests: number, t: Translate): string | undefined {
  if (tests === 0 || changed.length === 0) return undefined;
  const names = changed.map((it) => nameOf(it, t));
  const more = names.length > SHOWN ? ` ${t('and {0} more', names.length - SHOWN)}` : '';
  return t('Changed: {0}', names.slice(0, SHOWN).join(', ') + more);
}

function nameOf({ path, function: name }: ChangedPart, t: Translate): string {
  if (path === '') return t('the project');
  return name ? t('{0} in {1}', name, path) : path;
}

/** Returns the syntax errors that tests wait for, if any. */
export function waitingText({ broken, held }: AffectedTestsResult, t: Translate): string | undefined {
  if (broken.length === 0) return undefined;
  const errors = broken.map((it) => t('{0}:{1}: syntax error: {2}', it.path, it.line, it.message));
  const [one, many] =
    broken.length === 1
      ? [t('1 test waits until you correct it.'), t('{0} tests wait until you correct it.', held.length)]
      : [t('1 test waits until you correct them.'), t('{0} tests wait until you correct them.', held.length)];
  const waiting = held.length === 1 ? one : many;
  return [...errors, ...(held.length > 0 ? [waiting] : [])].join('\n');
}
