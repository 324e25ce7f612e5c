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
}
