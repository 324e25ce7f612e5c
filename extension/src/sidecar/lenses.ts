// The sidecar's lenses as values, and the tests that they run.

import { dirname, extname, join } from 'node:path/posix';
import type { CodeLens } from 'vscode';
import { fields } from '../unknown_value';

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
    const [file = ''] = id.split('::', 1);
    // In Go the path of an id is that of the package.
    const places = extname(path) === '.go' ? [dirname(path)] : [path];
    return id.includes('::') && places.includes(join(root, file)) ? [{ root, id, line, endLine }] : [];
  });
}
