// A lane's server: started in a process group of its own, so that whatever it starts ends with it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { editorHome, type Lane, nodeOf, target } from './lanes';
import { type Scratch, scratch } from './scratch';

export interface ServerOptions {
  /** The packed extensions to install. */
  readonly extensions: readonly string[];
  /** Whether every folder is trusted without being asked about. */
  readonly trustEverything: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether tests are going to run inside the extension host. */
  readonly hostTests?: boolean;
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

/** Milliseconds that the server may take to answer. */
const patience = 60_000;

/** Starts a server on a free port of this machine alone; resolves when it answers. */
export async function startServer(lane: Lane, options: ServerOptions): Promise<Server> {
  const own = scratch(options.settings ?? {});
  try {
    for (const it of options.extensions) installExtension(lane, own, it);
    return await started(lane, own, options);
  } catch (error) {
    own.remove();
    throw error;
  }
}

async function started(lane: Lane, own: Scratch, options: ServerOptions): Promise<Server> {
  const port = await freePort();
  const log = logFile(lane, port);
  const child = spawn(nodeOf(lane), [entry(lane), ...flags(own, port, options)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(lane, own),
  });
  const group = child.pid;
  if (group === undefined) throw new Error(`${nodeOf(lane)} could not be started`);
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await end(child, group);
    own.remove();
  };
  try {
    await listening(child, log);
    await healthy(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { lane, url, scratch: own, group, log, stop };
}

function installExtension(lane: Lane, own: Scratch, vsix: string): void {
  const args = [entry(lane), ...folders(own), '--install-extension', vsix];
  const ended = spawnSync(nodeOf(lane), args, { env: environment(lane, own), encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`${vsix} was not installed:\n${ended.stdout}${ended.stderr}`);
}

const entry = (lane: Lane): string =>
  join(editorHome(lane), 'node_modules', 'code-server', 'out', 'node', 'entry.js');

const folders = (own: Scratch): string[] => [
  '--user-data-dir',
  own.userData,
  '--extensions-dir',
  own.extensions,
];

function flags(own: Scratch, port: number, options: ServerOptions): string[] {
  return [
    ...['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`],
    ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
    ...(options.trustEverything ? ['--disable-workspace-trust'] : []),
    ...(options.hostTests ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
    ...folders(own),
  ];
}

/** Environments of tests are made once and shared; they are the same for all. */
export const cache = join(target, 'tmp', 'cache');

/** Nothing of the person's that runs the tests, but where packages come from. */
function environment(lane: Lane, own: Scratch): NodeJS.ProcessEnv {
  const kept = ['LANG', 'PIP_INDEX_URL', 'PIP_CONFIG_FILE', 'HTTPS_PROXY', 'https_proxy', 'SSL_CERT_FILE'];
  const passed = Object.fromEntries(kept.map((it) => [it, process.env[it]]));
  return {
    ...passed,
    PATH: [dirname(nodeOf(lane)), process.env.PATH ?? ''].join(delimiter),
    HOME: own.home,
    XDG_CONFIG_HOME: own.root,
    XDG_DATA_HOME: own.root,
    EXTENSIONS_GALLERY: '{}',
    TRELLIS_CACHE: cache,
  };
}

function logFile(lane: Lane, port: number): string {
  const folder = join(target, 'editors', 'logs');
  mkdirSync(folder, { recursive: true });
  return join(folder, `lane-${lane.name}-${port}.log`);
}

/** Resolves when the server says that it listens. */
async function listening(child: ChildProcess, log: string): Promise<void> {
  const file = createWriteStream(log);
  child.stderr?.pipe(file, { end: false });
  child.stdout?.pipe(file, { end: false });
  const { stdout } = child;
  if (stdout === null) throw new Error('the server has no output');
  const said = new Promise<void>((resolve) => {
    createInterface(stdout).on('line', (line) => {
      if (line.includes('server listening on')) resolve();
    });
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}: see ${log}`);
  });
  await Promise.race([said, ended, late(log)]);
}

async function late(log: string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, patience).unref());
  throw new Error(`the server did not answer within ${patience / 1000} s: see ${log}`);
}

async function healthy(url: string): Promise<void> {
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(`${url}/healthz answered ${answer.status}`);
}

/** Milliseconds that it may take to end what it started. */
const grace = 5_000;

/** Resolves when the process is gone; what is left of its group is killed. */
async function end(child: ChildProcess, group: number): Promise<void> {
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  signal(group, 'SIGTERM');
  await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, grace).unref())]);
  signal(group, 'SIGKILL');
  await gone;
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch (error) {
    // Nobody is left in it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port is free'));
        else resolve(address.port);
      });
    });
  });
}
