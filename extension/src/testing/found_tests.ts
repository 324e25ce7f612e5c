// Tests found in the sources, as changes of the tree. A run knows more of a file's tests than its text shows: what it
// added or removed stays so until the text names other tests.
import { dirname, extname } from 'node:path/posix';
import { Range } from 'vscode';
import type { FoundTest, FoundTests } from '../protocol';
import type { TestTree } from './tree';

/** Names that the text of each file had, by file and root. */
type Known = Map<string, ReadonlySet<string>>;

export class FoundTestsInTree {
  private readonly known = new Map<string, Known>();

  constructor(private readonly tree: TestTree) {}

  /**
   * Shows the result of a search.
   * @param paths of the searched files, relative to the root; all files if left out
   */
  apply({ root, files, invalid }: FoundTests, paths?: readonly string[]): void {
    // A project that was closed and opened again has no items.
    const isShown = this.tree.find(root, '') !== undefined;
    const known = (isShown ? this.known.get(root) : undefined) ?? new Map<string, ReadonlySet<string>>();
    this.known.set(root, known);
    const found = new Map(files.map((it) => [it.path, it.tests]));
    // Go's tests are those of a package, so that others than the searched files may be there.
    const searched = new Set([...(paths?.flatMap(placesOf) ?? known.keys()), ...found.keys()]);
    // While a person types, a file may be invalid for a moment; its rows and their results stay.
    const valid = [...searched].filter((it) => !invalid.includes(it));
    for (const path of valid) this.applyFile(root, path, found.get(path), known);
  }

  /** @param tests `undefined` for a file without tests; empty for one of which only a run knows the names */
  private applyFile(root: string, path: string, tests: readonly FoundTest[] | undefined, known: Known): void {
    const before = known.get(path) ?? new Set<string>();
    const now = new Set(tests?.map((it) => it.name));
    if (tests !== undefined && !known.has(path)) this.tree.item(root, path);
    // New tests first, so that a file whose only test is renamed stays open in the view.
    for (const test of tests ?? []) this.applyTest(root, path, test, !before.has(test.name));
    for (const name of before) if (!now.has(name)) this.tree.remove(root, `${path}::${name}`);
    if (tests !== undefined) known.set(path, now);
    else if (known.delete(path)) this.removeEmpty(root, path);
  }

  /** Removes a file's row unless a run has added tests. */
  private removeEmpty(root: string, path: string): void {
    if (this.tree.find(root, path)?.children.size === 0) this.tree.remove(root, path);
  }

  private applyTest(root: string, file: string, test: FoundTest, isNew: boolean): void {
    const { name, path, line, endLine } = test;
    const id = `${file}::${name}`;
    const item = isNew ? this.tree.item(root, id, path ?? file) : this.tree.find(root, id);
    if (item === undefined) return;
    this.tree.setHasCases(item, test.hasCases === true);
    const range = new Range(line - 1, 0, endLine - 1, 0);
    if (item.range === undefined || !item.range.isEqual(range)) item.range = range;
  }
}

/** Returns the paths in ids of a file's tests: its own, and in Go that of its package. */
function placesOf(file: string): readonly string[] {
  return extname(file) === '.go' ? [file, dirname(file)] : [file];
}
