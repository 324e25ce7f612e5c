// Bundles tests and runs them. The bundles are in a folder that tools for sources ignore, and where packages are
// found.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Folder of the extension, and root of the repository. */
export const extension = fileURLToPath(new URL('..', import.meta.url));
export const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Environment of bundled code, which does not know its origin. */
export const environment = { ...process.env, TRELLIS_REPOSITORY: repository };

/** Bundles of this process, separate from those of others. */
const own = join(extension, 'node_modules', '.cache', 'trellis-tests', String(process.pid));
process.once('exit', () => rmSync(own, { recursive: true, force: true }));

/** Bundles the matching files of `test/KIND`, one file each; returns the folder of the bundles. */
export async function bundle(kind, { pattern = '**/*.test.ts', ...options } = {}) {
  const outdir = join(own, kind);
  await build({
    absWorkingDir: extension,
    entryPoints: [`test/${kind}/${pattern}`],
    outbase: `test/${kind}`,
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

/** Lists the bundled tests in a folder. */
export function testFiles(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((it) => it.endsWith('.test.js'));
  return files.sort().map((it) => join(folder, it));
}

/** Runs bundled tests that need no editor; with `named`, only files with this text in their name. The
 *  folders that they make go with them. */
export function runTests(folder, { named = '' } = {}) {
  const files = testFiles(folder).filter((it) => it.slice(folder.length).includes(named));
  if (files.length === 0) throw new Error(`no test file is called *${named}*`);
  const scratch = mkdtempSync(join(tmpdir(), 'trellis-tests-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  run(process.execPath, ['--enable-source-maps', '--test', ...files], { ...environment, TMPDIR: scratch });
}

/** Runs a program; exits with its status if that is not 0. */
export function run(program, args, env = environment) {
  const ended = spawnSync(program, args, { cwd: extension, stdio: 'inherit', env });
  if (ended.error) throw ended.error;
  if (ended.status === 0) return;
  console.error(`\`${program} ${args.join(' ')}\` ended with ${ended.status ?? ended.signal}`);
  process.exit(ended.status || 1);
}
