// Ranges of documents.
import { Range } from 'vscode';

/** Makes the range of a line, counted from 0. */
export function lineRange(line: number): Range {
  return new Range(line, 0, line, 0);
}
