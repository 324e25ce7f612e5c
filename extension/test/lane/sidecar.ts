// Processes of the sidecar of a server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { recorded } from './fixture';
import { cache } from './program';
import type { Server } from './server';
import { extensionId } from './workbench';

/** Finds the processes of the sidecar from our package. */
export function sidecars(server: Server): number[] {
  const processes = readdirSync('/proc').filter((it) => /^\d+$/.test(it));
  const own = processes.filter((it) => program(it)?.startsWith(server.scratch.extensions + sep));
  // A process that is about to execute a program is a copy of its parent for a moment.
  return own.filter((it) => !own.includes(parent(it) ?? '')).map(Number);
}

/** Returns the parent of a process; `undefined` if the process is gone. */
function parent(process: string): string | undefined {
  try {
    const stat = readFileSync(join('/proc', process, 'stat'), 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined;
  }
}

/**
 * Resumes the run in a folder of the fixture beside the editor, as a terminal would; the result ends that process, and
 * resolves when it is gone.
 */
export function resumeElsewhere(server: Server, folder: string): () => Promise<void> {
  const run = [join(folder, 'rpg.json'), '--out', join(folder, 'output')];
  const child = terminal(server, ['generate', ...run, '--model', recorded, '--sandbox', 'local']);
  const gone = once(child, 'exit');
  return async () => {
    child.kill('SIGKILL');
    await gone;
  };
}

/** Starts a command of the sidecar's program beside the editor. */
export function terminal(server: Server, command: readonly string[]): ChildProcess {
  const ours = readdirSync(server.scratch.extensions).find((it) => it.startsWith(extensionId));
  if (ours === undefined) throw new Error('our extension is not installed');
  const path = join(server.scratch.extensions, ours, 'server-bin', 'trellis');
  const env = { PATH: process.env.PATH, HOME: server.scratch.home, TRELLIS_CACHE: cache };
  return spawn(path, command, { env, stdio: 'ignore' });
}

/** Returns the program of a process; `undefined` if it is gone, or belongs to another user. */
function program(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}
