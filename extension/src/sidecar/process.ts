// Process of the sidecar, and errors about it.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { LogLevel, type LogOutputChannel, l10n } from 'vscode';
import { TrellisError } from './api';
import type { Binary, FailedLookup } from './binary';

export type Child = ChildProcessWithoutNullStreams;

/**
 * Starts the program. Rejects with a {@link TrellisError} if the system cannot run it.
 * @param extra variables beside the editor's own
 */
export function startProcess(
  binary: Binary,
  extra: NodeJS.ProcessEnv,
  output: LogOutputChannel,
): Promise<Child> {
  return new Promise((resolve, reject) => {
    // The environment that was active where the editor was started belongs to no folder.
    const { VIRTUAL_ENV: _, CONDA_PREFIX: __, ...env } = process.env;
    const log = logVariables(env, output.logLevel);
    const child = spawn(binary.path, ['lsp'], { env: { ...log, ...env, ...extra } });
    child.once('spawn', () => resolve(child));
    child.once('error', (error) => reject(cannotStartError(binary, error)));
    child.once('exit', (code, signal) => {
      output.info(`the server exited (${signal ?? `exit code ${code}`})`);
    });
  });
}

function cannotStartError(binary: Binary, error: Error): TrellisError {
  return new TrellisError(
    l10n.t('could not start {0}: {1}', binary.path, error.message),
    UNAVAILABLE,
    l10n.t('check that it was built for this system, or set "trellis.path"'),
    'unavailable',
  );
}

/** Exit code of the command line for an unavailable resource. */
const UNAVAILABLE = 69;

/** Resolves when the process has exited. */
export function exited(child: Child): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

/**
 * Error of a sidecar that did not answer in time.
 * @param waited milliseconds
 */
export function noAnswerError(waited: number): TrellisError {
  return notASidecarError(l10n.t('the server did not answer within {0} s', waited / 1000));
}

/** Error of a program that does not speak the protocol. */
export function invalidMessageError(): TrellisError {
  return notASidecarError(l10n.t('the program that was started is not a Trellis server'));
}

function notASidecarError(what: string): TrellisError {
  const hint = l10n.t('check the output; clear the setting "trellis.path" if it names another program');
  return new TrellisError(what, UNAVAILABLE, hint, 'unavailable');
}

/** Error of a search without a result, with the places that were searched. */
export function notFoundError(misses: readonly FailedLookup[]): TrellisError {
  const hint = misses.some((it) => it.source === 'setting')
    ? l10n.t('correct the setting, or clear it to use the bundled server')
    : l10n.t('install the extension build for this system, or set "trellis.path" to the program "trellis"');
  const what = l10n.t('the Trellis server was not found: {0}', misses.map(describeLookup).join('; '));
  return new TrellisError(what, UNAVAILABLE, hint, 'unavailable');
}

function describeLookup(miss: FailedLookup): string {
  if (miss.source === 'path') return l10n.t('"trellis" is not on PATH');
  const named = miss.source === 'setting' ? l10n.t('the setting "trellis.path" ({0})', miss.path) : miss.path;
  switch (miss.why) {
    case 'absent':
      return l10n.t('{0} does not exist', named);
    case 'notExecutable':
      return l10n.t('{0} is not executable', named);
    case 'notAbsolute':
      return l10n.t('{0} is not an absolute path', named);
  }
}

/** Returns the variables with which the sidecar logs at the output channel's level. */
export function logVariables(env: NodeJS.ProcessEnv, level: LogLevel): NodeJS.ProcessEnv {
  if (env.RUST_LOG !== undefined) return {};
  if (level === LogLevel.Trace) return { RUST_LOG: 'trellis=trace' };
  if (level === LogLevel.Debug) return { RUST_LOG: 'trellis=debug' };
  return {};
}

/** Forwards the sidecar's log lines, each at its level. */
export function logLines(input: Readable, output: LogOutputChannel): void {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => logLine(line, output));
}

function logLine(line: string, output: LogOutputChannel): void {
  const level = line.slice(0, line.indexOf(':'));
  if (level === 'error') output.error(line);
  else if (level === 'warning') output.warn(line);
  else if (level === 'debug') output.debug(line);
  else if (level === 'trace') output.trace(line);
  else output.info(line);
}
