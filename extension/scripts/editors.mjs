// `node scripts/editors.mjs LANE…`: installs the editors of these lanes, unless they exist; waits for another process
// that does so.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from './bundle.mjs';

/** Installs the editors of these lanes. */
export async function editors(lanes) {
  run(process.execPath, [join(await bundle('lane', { pattern: 'main.ts' }), 'main.js'), ...lanes]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await editors(process.argv.slice(2));
