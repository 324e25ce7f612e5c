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

/** Bundles `test/ROOM/**.ts` that match, one file each, and returns the folder of what came of them. */
export async function bundle(room, { pattern = '**/*.test.ts', ...options } = {}) {
  const outdir = join(extension, 'node_modules', '.cache', 'trellis-tests', room);
  rmSync(outdir, { recursive: true, force: true });
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

/** Runs bundled tests one file after the other; those whose file's name holds `named`, if it is given. */
export function runTests(folder, { env = environment, named = '', options = [] } = {}) {
  const files = readdirSync(folder, { recursive: true })
    .filter((it) => it.endsWith('.test.js') && it.includes(named))
    .map((it) => join(folder, it))
    .sort();
  if (files.length === 0) throw new Error(`no test file in ${folder} is called *${named}*`);
  run(process.execPath, ['--enable-source-maps', '--test', ...options, ...files], env);
}

/** Runs a program to its end; ends with its status where that is not 0. */
export function run(program, args, env = environment) {
  const ended = spawnSync(program, args, { cwd: extension, stdio: 'inherit', env });
  if (ended.error) throw ended.error;
  if (ended.status === 0) return;
  console.error(`\`${program} ${args.join(' ')}\` ended with ${ended.status ?? ended.signal}`);
  process.exit(ended.status || 1);
}
