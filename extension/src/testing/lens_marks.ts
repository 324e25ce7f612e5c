// Tests and outcomes in a document, read from the sidecar's lenses.
import type { CodeLens } from 'vscode';
import type { Mark } from './outcomes';

/** The used parts of a lens; lines count from 0. */
export interface Lens {
  readonly line: number;
  readonly endLine: number;
  readonly command: string;
  readonly args: readonly unknown[];
}

/** A test that a document defines. */
export interface FoundTest {
  readonly root: string;
  readonly id: string;
  readonly line: number;
  readonly endLine: number;
}

/** Outcome of the definition in a line. */
export interface LineMark {
  readonly line: number;
  readonly mark: Mark;
}

/** Converts lenses of the editor. */
export function lensesOf(lenses: readonly CodeLens[]): readonly Lens[] {
  return lenses.flatMap(({ range, command }) => {
    if (command === undefined) return [];
    const { start, end } = range;
    return [{ line: start.line, endLine: end.line, command: command.command, args: command.arguments ?? [] }];
  });
}

/**
 * Finds the tests of a document: lenses that run one test of the document's own file.
 * @param path of the document, absolute, with `/`
 */
export function testsOf(path: string, lenses: readonly Lens[]): readonly FoundTest[] {
  return lenses.flatMap(({ line, endLine, command, args }) => {
    const { root, paths } = fields(args[0]);
    if (command !== 'trellis.runTests' || typeof root !== 'string' || !Array.isArray(paths)) return [];
    const [id]: unknown[] = paths;
    if (paths.length !== 1 || typeof id !== 'string') return [];
    const [file] = id.split('::', 1);
    return id.includes('::') && `${root}/${file}` === path ? [{ root, id, line, endLine }] : [];
  });
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

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
