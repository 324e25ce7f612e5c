// A lane's server: started in a process group of its own, so that whatever it starts ends with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addExtension } from './extensions';
import { type Lane, nodeOf, target } from './lanes';
import { bounds, within } from './patience';
import { entry, environment, folders } from './program';
import { type Scratch, scratch } from './scratch';

export interface ServerOptions {
  /** Of the server's log, among those of the lane. */
  readonly name: string;
  /** The packed extensions to install. */
  readonly extensions: readonly string[];
  /** Whether every folder is trusted without being asked about. */
  readonly trustEverything: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether tests are going to run inside the extension host. */
  readonly hostTests: boolean;
}

export interface Server {
  readonly lane: Lane;
  /** Of the workbench, without a slash at its end. */
  readonly url: string;
  readonly scratch: Scratch;
  /** Process group of the server and all it starts. */
  readonly group: number;
  /** File of what the server said. */
  readonly log: string;
  /** Ends it, with all it started, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of this machine alone; resolves when it answers. */
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
  const forget = endWithUs(group);
  const stop = async () => {
    await end(child, group);
    forget();
    own.remove();
  };
  try {
    const url = await within(bounds.server, `an answer of the server (see ${log})`, answering(child, log));
    return { lane, url, scratch: own, group, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function flags(own: Scratch, options: ServerOptions): string[] {
  return [
    // The system chooses a port that is free.
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

/** The server's address, when it answers there. */
async function answering(child: ChildProcess, log: string): Promise<string> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}: see ${log}`);
  });
  const url = await Promise.race([address(child, log), ended]);
  const answer = await fetch(`${url}/healthz`);
  if (!answer.ok) throw new Error(`${url}/healthz answered ${answer.status}`);
  return url;
}

/** The address that the server says it listens on. What else it says goes to its log as well. */
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

/** Resolves when the process is gone; what is left of its group is killed. */
async function end(child: ChildProcess, group: number): Promise<void> {
  const isGone = child.exitCode !== null || child.signalCode !== null;
  const gone = isGone ? Promise.resolve() : once(child, 'exit').then(() => {});
  signal(group, 'SIGTERM');
  await within(bounds.farewell, 'the end of the server', gone).catch(() => {});
  signal(group, 'SIGKILL');
  await gone;
}

/** Has a group killed when these tests are told to end; returns what takes that back. */
function endWithUs(group: number): () => void {
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
    // Nobody is left in it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
