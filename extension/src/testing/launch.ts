// How the Python debugger is told to run tests: a value, made of what is to be run.

/** What is debugged of one project. */
export interface Debugged {
  /** Its folder, absolute. */
  readonly root: string;
  /** Tests, classes and files; none: all of it. */
  readonly ids: readonly string[];
  /** Options of pytest. */
  readonly options: readonly string[];
  /** Folders of modules beside the root, absolute. */
  readonly paths: readonly string[];
  /** The interpreter. */
  readonly python: string;
}

/** A configuration of `debugpy`, which runs `python -m pytest` with the root as working directory. */
export function launchOf({ root, ids, options, paths, python }: Debugged, separator: string) {
  return {
    type: DEBUGGER,
    request: 'launch',
    module: 'pytest',
    args: [...options, ...ids],
    cwd: root,
    env: paths.length === 0 ? {} : { PYTHONPATH: paths.join(separator) },
    console: 'integratedTerminal',
    python,
    // A person may be after what a library does with their arguments.
    justMyCode: false,
  };
}

/** The type of debugger that is asked for. */
export const DEBUGGER = 'debugpy';

/** Whether an extension brings a debugger of this type, by its package.json. */
export function bringsDebugger(manifest: unknown): boolean {
  const { debuggers } = fields(fields(manifest).contributes);
  return Array.isArray(debuggers) && debuggers.some((it) => fields(it).type === DEBUGGER);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
