// The server of a lane, in a process group of its own, so that all its processes end with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addExtension } from './extensions';
import { type Lane, nodeOf, target } from './lanes';
import { limits, withLimit } from './patience';
import { entry, environment, folders } from './program';
import { type Scratch, scratch } from './scratch';

export interface ServerOptions {
  /** Name of the server's log among those of the lane. */
  readonly name: string;
  /** Packed extensions to install. */
  readonly extensions: readonly string[];
  /** Whether all folders are trusted without a question. */
  readonly trustEverything: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether tests run inside the extension host. */
  readonly hostTests: boolean;
}

export interface Server {
  readonly lane: Lane;
  /** Address of the workbench, without a slash at its end. */
  readonly url: string;
  readonly scratch: Scratch;
  /** Process group of the server. */
  readonly group: number;
  /** File with the server's output. */
  readonly log: string;
  /** Stops all processes of the server, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server on a free local port; resolves when it answers. */
export async function startServer(lane: Lane, options: ServerOptions): Promise<Server> {
  const own = scratch(options.settings);
  try {
    for (const it of options.extensions) await addExtension(lane, own, it);
    return await started(lane, own, options);
  } catch (error) {
    own.remove();
    throw error;
  }
}

async function started(lane: Lane, own: Scratch, options: ServerOptions): Promise<Server> {
  const log = logFile(lane, options.name);
  const child = spawn(nodeOf(lane), [entry(lane), ...flags(own, options)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(lane, own),
  });
  const group = child.pid;
  if (group === undefined) throw new Error(`${nodeOf(lane)} could not be started`);
  const forget = killOnExit(group);
  const stop = async () => {
    await end(child, group);
    forget();
    own.remove();
  };
  try {
    const url = await withLimit(limits.server, `an answer of the server (see ${log})`, addressOf(child, log));
    return { lane, url, scratch: own, group, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function flags(own: Scratch, options: ServerOptions): string[] {
  return [
    // The system chooses a free port.
    ...['--auth', 'none', '--bind-addr', '127.0.0.1:0'],
    ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
    ...(options.trustEverything ? ['--disable-workspace-trust'] : []),
    ...(options.hostTests ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
    ...folders(own),
  ];
}

function logFile(lane: Lane, name: string): string {
  const folder = join(target, 'editors', 'logs');
  mkdirSync(folder, { recursive: true });
  return join(folder, `lane-${lane.name}-${name}.log`);
}

/** Returns the server's address when it answers there. */
async function addressOf(child: ChildProcess, log: string): Promise<string> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}: see ${log}`);
  });
  const url = await Promise.race([address(child, log), ended]);
  const answer = await fetch(`${url}/healthz`);
  if (!answer.ok) throw new Error(`${url}/healthz answered ${answer.status}`);
  return url;
}

/** Reads the address from the server's output, which also goes to its log. */
async function address(child: ChildProcess, log: string): Promise<string> {
  const file = createWriteStream(log);
  child.stderr?.pipe(file, { end: false });
  child.stdout?.pipe(file, { end: false });
  const { stdout } = child;
  if (stdout === null) throw new Error('the server has no output');
  return await new Promise<string>((resolve) => {
    createInterface(stdout).on('line', (line) => {
      const [, url] = /server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Resolves when the process has exited, and kills the rest of its group. */
async function end(child: ChildProcess, group: number): Promise<void> {
  const isGone = child.exitCode !== null || child.signalCode !== null;
  const gone = isGone ? Promise.resolve() : once(child, 'exit').then(() => {});
  signal(group, 'SIGTERM');
  await withLimit(limits.shutdown, 'the end of the server', gone).catch(() => {});
  signal(group, 'SIGKILL');
  await gone;
}

/** Kills the group when the tests are told to end; returns what undoes that. */
function killOnExit(group: number): () => void {
  const kill = () => {
    signal(group, 'SIGKILL');
    process.exit(1);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const it of signals) process.once(it, kill);
  return () => {
    for (const it of signals) process.off(it, kill);
  };
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch (error) {
    // The group is empty.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
