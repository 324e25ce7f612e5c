// Types that several files share.

/** Item of the Testing view's tree: a project, or something in it. */
export interface Target {
  /** Folder of the project. */
  readonly root: string;
  /** Id relative to the folder; empty for the whole project. */
  readonly id: string;
}

/** Options of a test run. */
export interface RunOptions {
  readonly coverage: boolean;
  /** Whether the sidecar records what each test executes, to find the tests that later changes affect. */
  readonly recordsExecution?: boolean;
  /** Text at the beginning of the run's output. */
  readonly intro?: string;
}

/** A test, or a file, class or function with tests. */
export interface NamedTest {
  /** Folder of the project, absolute. */
  readonly root: string;
  /** Id, relative to the folder. */
  readonly test: string;
}
