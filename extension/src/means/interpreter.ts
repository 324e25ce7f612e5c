// The Python that tests run with: as the setting says, else as the person chose it in an extension for Python.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { EventEmitter, extensions, l10n, type Uri, workspace } from 'vscode';
import { toTrellisError } from '../sidecar/errors';
import { chosenIn, type PythonExtension, SOURCES } from './python_extensions';

/** An interpreter, or the folder of an environment. */
export interface Interpreter {
  readonly path: string;
  /** Who says so, in words. */
  readonly by: string;
}

/** Milliseconds that another extension may take to start and to answer. */
const PATIENCE = 5_000;

const news = new EventEmitter<Interpreter | undefined>();
/** Tells which one was found last. */
export const onInterpreter = news.event;

/** Extensions that failed to answer: that is told once. */
const failed = new Set<string>();
let warn: (line: string) => void = () => {};

/** To be called once, with where troubles are told. */
export function interpreters(tell: (line: string) => void): void {
  warn = tell;
}

/** Tells what tests have run with, where nobody has chosen it. */
export async function ranWith(path: string | null | undefined, place: Uri): Promise<void> {
  if (!path || (await interpreterOf(place)) !== undefined) return;
  news.fire({ path, by: l10n.t('found automatically') });
}

/** Finds the one for a place; none where the sidecar is to look for an environment of the project. */
export async function interpreterOf(place: Uri): Promise<Interpreter | undefined> {
  const found = bySetting(place) ?? (await byExtension(place));
  news.fire(found);
  return found;
}

function bySetting(place: Uri): Interpreter | undefined {
  const set = workspace.getConfiguration('trellis', place).get('interpreter', '').trim();
  return set === '' ? undefined : { path: absolute(set, place), by: l10n.t('from your settings') };
}

/** Relative to the folder of the workspace; `~` is the person's own. */
function absolute(path: string, place: Uri): string {
  const folder = workspace.getWorkspaceFolder(place)?.uri.fsPath ?? place.fsPath;
  const whole = path.replace(/^~(?=$|[\\/])/, homedir()).replace(/^\$\{workspaceFolder\}/, folder);
  return isAbsolute(whole) ? whole : join(folder, whole);
}

/** What another extension says runs what is in the folder, and containers have interpreters of their own. */
async function byExtension(place: Uri): Promise<Interpreter | undefined> {
  const isContained = workspace.getConfiguration('trellis', place).get<string>('sandbox') === 'docker';
  if (!workspace.isTrusted || isContained) return undefined;
  for (const source of SOURCES) {
    const path = await ask(source, place);
    if (path !== undefined) return { path, by: l10n.t('from the {0} extension', source.label) };
  }
  return undefined;
}

async function ask(source: PythonExtension, place: Uri): Promise<string | undefined> {
  const extension = extensions.getExtension<unknown>(source.id);
  if (extension === undefined) return undefined;
  try {
    return await inTime(async () => await chosenIn(source, await extension.activate(), place));
  } catch (error) {
    if (!failed.has(source.id))
      warn(`${source.id} did not report the selected Python: ${toTrellisError(error).message}`);
    failed.add(source.id);
    return undefined;
  }
}

/** Rejects where it takes too long. */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE / 1000} s`)), PATIENCE);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
