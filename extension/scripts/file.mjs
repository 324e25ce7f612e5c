// Runs a test file in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extension } from './bundle.mjs';
import { nameOf } from './selection.mjs';

const reporter = fileURLToPath(new URL('failures.mjs', import.meta.url));

/**
 * Runs a file; returns its name, whether it passed, its seconds, its output, and its failures, as `failures.mjs`
 * writes them.
 */
export async function runFile(file, env) {
  const scratch = mkdtempSync(join(tmpdir(), 'trellis-file-'));
  try {
    const list = join(scratch, 'failures.jsonl');
    const started = Date.now();
    const { said, passed } = await ended(program(file, list, env));
    const failures = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n').filter(Boolean) : [];
    const seconds = (Date.now() - started) / 1000;
    return {
      file,
      name: nameOf(file),
      passed,
      seconds,
      said,
      failures: failures.map((it) => JSON.parse(it)),
    };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function program(file, list, env) {
  const spec = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  const own = [`--test-reporter=${reporter}`, `--test-reporter-destination=${list}`];
  const args = ['--enable-source-maps', ...spec, ...own, file];
  return spawn(process.execPath, args, { cwd: extension, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ended(child) {
  const parts = [];
  for (const it of [child.stdout, child.stderr]) it.on('data', (data) => parts.push(data));
  const [code] = await once(child, 'close');
  return { said: Buffer.concat(parts).toString(), passed: code === 0 };
}
