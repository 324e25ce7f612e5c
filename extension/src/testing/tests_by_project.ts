// Tests of a run request, by project.
import type { TestRunRequest } from 'vscode';
import { outermost } from './ids';
import type { TestTree } from './tree';

/** Requested tests of a project. */
export interface ProjectTests {
  readonly root: string;
  /** Ids; empty for the whole project. */
  readonly ids: readonly string[];
}

export function testsByProject(tree: TestTree, request: TestRunRequest): readonly ProjectTests[] {
  const ids = new Map<string, string[]>();
  for (const item of request.include ?? tree.roots) {
    const target = tree.target(item);
    if (target !== undefined) ids.set(target.root, [...(ids.get(target.root) ?? []), target.id]);
  }
  return [...ids].map(([root, all]) => ({ root, ids: all.includes('') ? [] : outermost(all) }));
}
