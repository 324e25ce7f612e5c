// What a request of the Testing view asks for, by project.
import type { TestRunRequest } from 'vscode';
import { outermost } from './ids';
import type { TestTree } from './tree';

/** What is run of one project. */
export interface Part {
  readonly root: string;
  /** None: all of it. */
  readonly ids: readonly string[];
}

export function partsOf(tree: TestTree, request: TestRunRequest): readonly Part[] {
  const ids = new Map<string, string[]>();
  for (const item of request.include ?? tree.roots) {
    const target = tree.target(item);
    if (target !== undefined) ids.set(target.root, [...(ids.get(target.root) ?? []), target.id]);
  }
  return [...ids].map(([root, all]) => ({ root, ids: all.includes('') ? [] : outermost(all) }));
}
