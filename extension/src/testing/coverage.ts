// Executed lines in the editor.
import { join } from 'node:path';
import { FileCoverage, Position, StatementCoverage, TestCoverageCount, type TestRun, Uri } from 'vscode';
import type { LineCoverage } from '../protocol';

/** Coverage of a file, with the lines that are drawn when it is opened. */
class FileLines extends FileCoverage {
  constructor(
    uri: Uri,
    private readonly lines: LineCoverage,
  ) {
    const covered = lines.executed.length;
    super(uri, new TestCoverageCount(covered, covered + lines.missing.length));
  }

  details(): StatementCoverage[] {
    const of = (executed: boolean) => (line: number) =>
      new StatementCoverage(executed, new Position(line - 1, 0));
    return [...this.lines.executed.map(of(true)), ...this.lines.missing.map(of(false))];
  }
}

/**
 * Adds the coverage of files to a run.
 * @param root folder of the project
 * @param files by path relative to the root
 */
export function showCoverage(run: TestRun, root: string, files: Record<string, LineCoverage>): void {
  for (const [path, lines] of Object.entries(files)) {
    run.addCoverage(new FileLines(Uri.file(join(root, path)), lines));
  }
}

export function coverageDetails(coverage: FileCoverage): StatementCoverage[] {
  return coverage instanceof FileLines ? coverage.details() : [];
}
