// The sidecar's process.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type LogOutputChannel, l10n } from 'vscode';
import { Refusal } from './api';
import type { Binary, Miss } from './binary';

export type Child = ChildProcessWithoutNullStreams;

/**
 * Starts it. Rejects with a {@link Refusal} where the system cannot run the program.
 * @param extra variables beside the editor's own
 */
export function start(binary: Binary, extra: NodeJS.ProcessEnv, output: LogOutputChannel): Promise<Child> {
  return new Promise((resolve, reject) => {
    // The environment that was active where the editor was started is that of no folder.
    const { VIRTUAL_ENV: _, CONDA_PREFIX: __, ...env } = process.env;
    const child = spawn(binary.path, ['lsp'], { env: { ...env, ...extra } });
    child.once('spawn', () => resolve(child));
    child.once('error', (error) => reject(unstartable(binary, error)));
    child.once('exit', (code, signal) => {
      output.info(`the server exited (${signal ?? `exit code ${code}`})`);
    });
  });
}

function unstartable(binary: Binary, error: Error): Refusal {
  return new Refusal(
    l10n.t('could not start {0}: {1}', binary.path, error.message),
    UNAVAILABLE,
    l10n.t('check that it was built for this system, or set "trellis.path"'),
    'unavailable',
  );
}

/** Exit code of the command line for what cannot be had. */
const UNAVAILABLE = 69;

/** Resolves when it is gone. */
export function ended(child: Child): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

/**
 * Why it is no sidecar.
 * @param waited milliseconds
 */
export function silent(waited: number): Refusal {
  return stranger(l10n.t('the server did not answer within {0} s', waited / 1000));
}

/** The same of one that talks otherwise. */
export function garbled(): Refusal {
  return stranger(l10n.t('the program that was started is not a Trellis server'));
}

function stranger(what: string): Refusal {
  const hint = l10n.t('check the output; clear the setting "trellis.path" if it names another program');
  return new Refusal(what, UNAVAILABLE, hint, 'unavailable');
}

/** Why there is no program, with what was looked at. */
export function missing(misses: readonly Miss[]): Refusal {
  const hint = misses.some((it) => it.source === 'setting')
    ? l10n.t('correct the setting, or clear it to use the bundled server')
    : l10n.t('install the extension build for this system, or set "trellis.path" to the program "trellis"');
  const what = l10n.t('the Trellis server was not found: {0}', misses.map(reason).join('; '));
  return new Refusal(what, UNAVAILABLE, hint, 'unavailable');
}

function reason(miss: Miss): string {
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

/** Passes the sidecar's own lines on, each at its level. */
export function logLines(input: Readable, output: LogOutputChannel): void {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => {
    if (line.startsWith('error')) output.error(line);
    else if (line.startsWith('warning')) output.warn(line);
    else output.info(line);
  });
}
