// Environments that a person has selected in extensions for Python.
import { isAbsolute } from 'node:path';
import type { Uri } from 'vscode';

export interface PythonExtension {
  readonly id: string;
  /** Name of the extension. */
  readonly label: string;
  /** Returns the interpreter of the selected environment; `undefined` without one. */
  readonly selectedPython: (api: unknown, place: Uri) => Promise<string | undefined>;
}

/** The extensions in the order in which they are asked: the first knows the selection of the second. */
export const PYTHON_EXTENSIONS: readonly PythonExtension[] = [
  { id: 'ms-python.python', label: 'Python', selectedPython: selectedInPython },
  {
    id: 'ms-python.vscode-python-envs',
    label: 'Python Environments',
    selectedPython: selectedInEnvironments,
  },
];

/**
 * Returns the selected interpreter. One outside of environments is ignored: the sidecar looks for one with the
 * project's packages.
 */
export async function selectedPython(
  source: PythonExtension,
  api: unknown,
  place: Uri,
): Promise<string | undefined> {
  const path = await source.selectedPython(api, place);
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** Reads `environments` of the API of `ms-python.python`. */
async function selectedInPython(api: unknown, place: Uri): Promise<string | undefined> {
  await field(api, 'ready');
  const environments = field(api, 'environments');
  const active = call(environments, 'getActiveEnvironmentPath', place);
  const resolved = await call(environments, 'resolveEnvironment', active);
  const isGlobal = (field(resolved, 'environment') ?? undefined) === undefined;
  return isGlobal ? undefined : pathOf(field(field(resolved, 'executable'), 'uri'));
}

/** Reads the API of `ms-python.vscode-python-envs`. */
async function selectedInEnvironments(api: unknown, place: Uri): Promise<string | undefined> {
  const chosen = await call(api, 'getEnvironment', place);
  const manager = field(field(chosen, 'envId'), 'managerId');
  if (typeof manager !== 'string' || manager.endsWith(':system')) return undefined;
  const executable = field(field(field(chosen, 'execInfo'), 'run'), 'executable');
  const isPath = typeof executable === 'string' && isAbsolute(executable);
  return isPath ? executable : pathOf(field(chosen, 'environmentPath'));
}

/** Calls a method of an API that may differ from the expected one. */
function call(api: unknown, name: string, argument: unknown): unknown {
  const method = field(api, name);
  if (typeof method !== 'function') throw new Error(`its interface has no ${name}`);
  return method.call(api, argument);
}

function pathOf(uri: unknown): string | undefined {
  const path = field(uri, 'fsPath');
  return typeof path === 'string' ? path : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
