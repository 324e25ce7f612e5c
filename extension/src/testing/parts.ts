// What a request of the Testing view asks for, by project.
import type { TestItem, TestRunRequest } from 'vscode';
import type { Testing } from './controller';
import { outermost } from './ids';

/** What is run of one project. */
export interface Part {
  readonly root: string;
  /** None: all of it. */
  readonly ids: readonly string[];
}

export function partsOf(testing: Testing, request: TestRunRequest): readonly Part[] {
  const ids = new Map<string, string[]>();
  for (const item of request.include ?? itemsOf(testing)) {
    const target = testing.target(item);
    if (target !== undefined) ids.set(target.root, [...(ids.get(target.root) ?? []), target.id]);
  }
  return [...ids].map(([root, all]) => ({ root, ids: all.includes('') ? [] : outermost(all) }));
}

/** The projects. */
export function itemsOf(testing: Testing): readonly TestItem[] {
  return [...testing.controller.items].map(([, it]) => it);
}
