// What the sidecar's lenses say of a document: which tests it has, and how functions stand.
import type { CodeLens } from 'vscode';
import type { Mark } from './outcomes';

/** A lens, as far as it matters here; lines count from 0. */
export interface Lens {
  readonly line: number;
  readonly endLine: number;
  readonly command: string;
  readonly given: readonly unknown[];
}

/** A test that a document defines. */
export interface FoundTest {
  readonly root: string;
  readonly id: string;
  readonly line: number;
  readonly endLine: number;
}

/** How what is defined at a line stands. */
export interface LineMark {
  readonly line: number;
  readonly mark: Mark;
}

/** Lenses as data. */
export function lensesOf(lenses: readonly CodeLens[]): readonly Lens[] {
  return lenses.flatMap(({ range, command }) => {
    if (command === undefined) return [];
    const { start, end } = range;
    return [
      { line: start.line, endLine: end.line, command: command.command, given: command.arguments ?? [] },
    ];
  });
}

/**
 * The tests of a document: what one lens runs whose file is the document itself.
 * @param path of the document, absolute, with `/`
 */
export function testsOf(path: string, lenses: readonly Lens[]): readonly FoundTest[] {
  return lenses.flatMap(({ line, endLine, command, given }) => {
    const { root, paths } = fields(given[0]);
    if (command !== 'trellis.runTests' || typeof root !== 'string' || !Array.isArray(paths)) return [];
    const [id]: unknown[] = paths;
    if (paths.length !== 1 || typeof id !== 'string') return [];
    const [file] = id.split('::', 1);
    return id.includes('::') && `${root}/${file}` === path ? [{ root, id, line, endLine }] : [];
  });
}

/** Where something failed, passed or was skipped, once a line: the worst of what is said there. */
export function marksOf(lenses: readonly Lens[]): readonly LineMark[] {
  const marks = new Map<number, Mark>();
  for (const { line, command, given } of lenses) {
    const mark = markOf(command, given);
    if (mark !== undefined) marks.set(line, worst(marks.get(line), mark));
  }
  return [...marks].map(([line, mark]) => ({ line, mark }));
}

/** What can be retried has not passed. */
function markOf(command: string, given: readonly unknown[]): Mark | undefined {
  if (command === 'trellis.retryNode') return 'failed';
  if (command !== 'trellis.showResult') return undefined;
  const { mark, stale } = fields(given[1]);
  // What passed before the code was changed says nothing of it now.
  if (stale === true && mark === 'passed') return undefined;
  return mark === 'passed' || mark === 'failed' || mark === 'skipped' ? mark : undefined;
}

const ORDER: readonly Mark[] = ['skipped', 'passed', 'failed'];

function worst(a: Mark | undefined, b: Mark): Mark {
  return a !== undefined && ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
