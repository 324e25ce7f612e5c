// Launch configuration of the Python debugger.

import { fields } from '../unknown_value';

/** Tests of a project that are debugged. */
export interface DebugTarget {
  /** Folder of the project, absolute. */
  readonly root: string;
  /** Ids of tests, classes and files; empty for the whole project. */
  readonly ids: readonly string[];
  /** Options of pytest. */
  readonly options: readonly string[];
  /** Additional folders of modules, absolute. */
  readonly paths: readonly string[];
  /** Path of the interpreter. */
  readonly python: string;
}

/** Makes a configuration of `debugpy` that runs `python -m pytest` in the root. */
export function launchConfiguration({ root, ids, options, paths, python }: DebugTarget, separator: string) {
  return {
    type: DEBUG_TYPE,
    request: 'launch',
    module: 'pytest',
    args: [...options, ...ids],
    cwd: root,
    env: paths.length === 0 ? {} : { PYTHONPATH: paths.join(separator) },
    console: 'integratedTerminal',
    python,
    // A person may want to step into libraries.
    justMyCode: false,
  };
}

/** Type of the debugger. */
export const DEBUG_TYPE = 'debugpy';

/** Returns whether an extension contributes the debugger, by its package.json. */
export function contributesDebugger(manifest: unknown): boolean {
  const { debuggers } = fields(fields(manifest).contributes);
  return Array.isArray(debuggers) && debuggers.some((it) => fields(it).type === DEBUG_TYPE);
}
