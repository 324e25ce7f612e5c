// Outcomes in a document, read from the sidecar's lenses.
import type { Lens } from '../sidecar/lenses';
import { fields } from '../unknown_value';
import type { Mark } from './outcomes';

/** Outcome of the definition in a line. */
export interface LineMark {
  readonly line: number;
  readonly mark: Mark;
}

/** Finds the outcome of each line; the worst one if there are several. */
export function marksOf(lenses: readonly Lens[]): readonly LineMark[] {
  const marks = new Map<number, Mark>();
  for (const { line, command, args } of lenses) {
    const mark = markOf(command, args);
    if (mark !== undefined) marks.set(line, worst(marks.get(line), mark));
  }
  return [...marks].map(([line, mark]) => ({ line, mark }));
}

/** Reads the outcome from a lens; a lens to retry belongs to a failed node. */
function markOf(command: string, args: readonly unknown[]): Mark | undefined {
  if (command === 'trellis.retryNode') return 'failed';
  if (command !== 'trellis.showResult') return undefined;
  const { mark, stale } = fields(args[1]);
  // A pass before the code was changed says nothing about the new code.
  if (stale === true && mark === 'passed') return undefined;
  return mark === 'passed' || mark === 'failed' || mark === 'skipped' ? mark : undefined;
}

const MARK_ORDER: readonly Mark[] = ['skipped', 'passed', 'failed'];

function worst(a: Mark | undefined, b: Mark): Mark {
  return a !== undefined && MARK_ORDER.indexOf(a) > MARK_ORDER.indexOf(b) ? a : b;
}
