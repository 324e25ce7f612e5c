// Bundles tests and runs what was bundled. It goes where tools that look at our sources do not look, and
// where packages are still found.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Folder of the extension, and root of the repository. */
export const extension = fileURLToPath(new URL('..', import.meta.url));
export const repository = fileURLToPath(new URL('../..', import.meta.url));

/** What bundled code cannot find out by itself. */
export const environment = { ...process.env, TRELLIS_REPOSITORY: repository };

/** Bundles of this process, which others that run at the same time do not touch. */
const own = join(extension, 'node_modules', '.cache', 'trellis-tests', String(process.pid));
process.once('exit', () => rmSync(own, { recursive: true, force: true }));

/** Bundles `test/ROOM/**.ts` that match, one file each, and returns the folder of what came of them. */
export async function bundle(room, { pattern = '**/*.test.ts', ...options } = {}) {
  const outdir = join(own, room);
  await build({
    absWorkingDir: extension,
    entryPoints: [`test/${room}/${pattern}`],
    outbase: `test/${room}`,
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
    ...options,
  });
  return outdir;
}

/** Paths of the tests in a folder of bundles. */
export function testFiles(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((it) => it.endsWith('.test.js'));
  return files.sort().map((it) => join(folder, it));
}

/** Runs bundled tests that need no editor; those whose file's name holds `named`, if it is given. */
export function runTests(folder, { named = '' } = {}) {
  const files = testFiles(folder).filter((it) => it.slice(folder.length).includes(named));
  if (files.length === 0) throw new Error(`no test file is called *${named}*`);
  run(process.execPath, ['--enable-source-maps', '--test', ...files]);
}

/** Runs a program to its end; ends with its status where that is not 0. */
export function run(program, args, env = environment) {
  const ended = spawnSync(program, args, { cwd: extension, stdio: 'inherit', env });
  if (ended.error) throw ended.error;
  if (ended.status === 0) return;
  console.error(`\`${program} ${args.join(' ')}\` ended with ${ended.status ?? ended.signal}`);
  process.exit(ended.status || 1);
}
