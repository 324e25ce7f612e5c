// Python interpreter of the tests: from the setting, else from an extension for Python.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { EventEmitter, extensions, l10n, type Uri, workspace } from 'vscode';
import { toTrellisError } from '../sidecar/errors';
import { PYTHON_EXTENSIONS, type PythonExtension, selectedPython } from './python_extensions';

/** An interpreter, or the folder of an environment. */
export interface Interpreter {
  readonly path: string;
  /** Origin of the choice, for the person. */
  readonly origin: string;
}

/** Milliseconds in which another extension has to start and answer. */
const TIMEOUT_MS = 5_000;

const foundEmitter = new EventEmitter<Interpreter | undefined>();
/** Fires with the interpreter that was found last. */
export const onInterpreter = foundEmitter.event;

/** Extensions that failed to answer, which is logged once. */
const failedExtensions = new Set<string>();
let logWarning: (line: string) => void = () => {};

/** Sets the log for problems; called once. */
export function setInterpreterLog(log: (line: string) => void): void {
  logWarning = log;
}

/** Reports the interpreter of a test run, if nobody has chosen one. */
export async function reportInterpreter(path: string | null | undefined, place: Uri): Promise<void> {
  if (!path || (await interpreterOf(place)) !== undefined) return;
  foundEmitter.fire({ path, origin: l10n.t('found automatically') });
}

/** Finds the interpreter of a path; `undefined` if the sidecar has to find an environment of the project. */
export async function interpreterOf(place: Uri): Promise<Interpreter | undefined> {
  const found = fromSetting(place) ?? (await fromExtension(place));
  foundEmitter.fire(found);
  return found;
}

function fromSetting(place: Uri): Interpreter | undefined {
  const set = workspace.getConfiguration('trellis', place).get('interpreter', '').trim();
  return set === '' ? undefined : { path: absolute(set, place), origin: l10n.t('from your settings') };
}

/** Resolves a path relative to the workspace folder; `~` is the home directory. */
function absolute(path: string, place: Uri): string {
  const folder = workspace.getWorkspaceFolder(place)?.uri.fsPath ?? place.fsPath;
  const whole = path.replace(/^~(?=$|[\\/])/, homedir()).replace(/^\$\{workspaceFolder\}/, folder);
  return isAbsolute(whole) ? whole : join(folder, whole);
}

/**
 * Asks the extensions for Python: in trusted folders only, since the interpreter may lie in the folder, and not with
 * Docker, since containers have their own interpreters.
 */
async function fromExtension(place: Uri): Promise<Interpreter | undefined> {
  const isContained = workspace.getConfiguration('trellis', place).get<string>('sandbox') === 'docker';
  if (!workspace.isTrusted || isContained) return undefined;
  for (const source of PYTHON_EXTENSIONS) {
    const path = await askExtension(source, place);
    if (path !== undefined) return { path, origin: l10n.t('from the {0} extension', source.label) };
  }
  return undefined;
}

async function askExtension(source: PythonExtension, place: Uri): Promise<string | undefined> {
  const extension = extensions.getExtension<unknown>(source.id);
  if (extension === undefined) return undefined;
  try {
    return await withTimeout(async () => await selectedPython(source, await extension.activate(), place));
  } catch (error) {
    if (!failedExtensions.has(source.id))
      logWarning(`${source.id} did not report the selected Python: ${toTrellisError(error).message}`);
    failedExtensions.add(source.id);
    return undefined;
  }
}

/** Rejects if the work takes too long. */
async function withTimeout<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
