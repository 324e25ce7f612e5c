// `node scripts/pack.mjs`: packs the extension for its tests, with the sidecar of TRELLIS_BIN; the last line of the
// output is the path of the package.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, extension, repository, run } from './bundle.mjs';

const target = process.env.CARGO_TARGET_DIR ?? join(repository, 'target');

/** Packs the extension; returns the path of the package. */
export function pack() {
  const binary = process.env.TRELLIS_BIN ?? join(target, 'debug', 'trellis');
  if (!existsSync(binary)) {
    throw new Error(`${binary} is missing: run \`cargo build -p trellis\`, or set TRELLIS_BIN`);
  }
  const folder = join(target, 'editors');
  mkdirSync(folder, { recursive: true });
  // Debug information would take minutes to pack.
  const stripped = join(folder, 'trellis');
  run('strip', ['-o', stripped, binary]);
  const system = `${process.platform}-${process.arch}`;
  run('npm', ['run', '--silent', 'package'], { ...environment, TRELLIS_BIN: stripped, TARGET: system });
  const { version } = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));
  return join(extension, `trellis-${system}-${version}.vsix`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(pack());
