// What extensions for Python say: which environment a person has chosen for a place.
import { isAbsolute } from 'node:path';
import type { Uri } from 'vscode';

export interface PythonExtension {
  readonly id: string;
  /** As it calls itself. */
  readonly label: string;
  /** Gives the interpreter of the environment; none where no environment is chosen. */
  readonly chosen: (api: unknown, place: Uri) => Promise<string | undefined>;
}

/** In the order in which they are asked: the first knows what the second says, where both are there. */
export const SOURCES: readonly PythonExtension[] = [
  { id: 'ms-python.python', label: 'Python', chosen: ofPython },
  { id: 'ms-python.vscode-python-envs', label: 'Python Environments', chosen: ofEnvironments },
];

/** An interpreter that is no environment's is left out: the sidecar looks for one that has the project's packages. */
export async function chosenIn(
  source: PythonExtension,
  api: unknown,
  place: Uri,
): Promise<string | undefined> {
  const path = await source.chosen(api, place);
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** `environments` of the API of `ms-python.python`. */
async function ofPython(api: unknown, place: Uri): Promise<string | undefined> {
  await field(api, 'ready');
  const environments = field(api, 'environments');
  const active = call(environments, 'getActiveEnvironmentPath', place);
  const resolved = await call(environments, 'resolveEnvironment', active);
  const isGlobal = (field(resolved, 'environment') ?? undefined) === undefined;
  return isGlobal ? undefined : pathOf(field(field(resolved, 'executable'), 'uri'));
}

/** The API of `ms-python.vscode-python-envs`. */
async function ofEnvironments(api: unknown, place: Uri): Promise<string | undefined> {
  const chosen = await call(api, 'getEnvironment', place);
  const manager = field(field(chosen, 'envId'), 'managerId');
  if (typeof manager !== 'string' || manager.endsWith(':system')) return undefined;
  const executable = field(field(field(chosen, 'execInfo'), 'run'), 'executable');
  const isPath = typeof executable === 'string' && isAbsolute(executable);
  return isPath ? executable : pathOf(field(chosen, 'environmentPath'));
}

/** Calls a method of an API that may be another one than expected. */
function call(api: unknown, name: string, given: unknown): unknown {
  const method = field(api, name);
  if (typeof method !== 'function') throw new Error(`its interface has no ${name}`);
  return method.call(api, given);
}

function pathOf(uri: unknown): string | undefined {
  const path = field(uri, 'fsPath');
  return typeof path === 'string' ? path : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
