// The sidecar of a server, as the system sees it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { recorded } from './fixture';
import { cache } from './program';
import type { Server } from './server';
import { extensionId } from './workbench';

/** Processes of the sidecar that our extension brought along. */
export function sidecars(server: Server): number[] {
  const processes = readdirSync('/proc').filter((it) => /^\d+$/.test(it));
  const own = processes.filter((it) => program(it)?.startsWith(server.scratch.extensions + sep));
  // One that is about to become another program is a copy of its parent for a moment.
  return own.filter((it) => !own.includes(parent(it) ?? '')).map(Number);
}

/** The process that started one; nothing where that is gone. */
function parent(process: string): string | undefined {
  try {
    const stat = readFileSync(join('/proc', process, 'stat'), 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined;
  }
}

/** Goes on with the run in a folder of the fixture beside the editor, as somebody in a terminal would; ends it, and resolves when it is gone. */
export function goOnElsewhere(server: Server, folder: string): () => Promise<void> {
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

/** Path of what a process runs; nothing of one that is gone, or of somebody else. */
function program(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}
