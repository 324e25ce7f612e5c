// The Testing view as the files see it that show results in it.
import type { TestController, TestRunProfile } from 'vscode';
import type { TestTree } from './tree';

/** Parts of the Testing view that runs and commands use. */
export interface TestView {
  readonly controller: TestController;
  readonly tree: TestTree;
  /** Profile of runs without coverage. */
  readonly profile: TestRunProfile;
  /** Projects whose affected tests run after each change, so that the others are not outdated. */
  readonly followed: Set<string>;
}
