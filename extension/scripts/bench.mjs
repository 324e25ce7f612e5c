// `npm run bench`: measures the extension in a real editor; see test/bench/main.ts. TRELLIS_BIN is the sidecar to
// pack.
import { join } from 'node:path';
import { bundle, environment, extension, run } from './bundle.mjs';
import { editors } from './editors.mjs';
import { pack } from './pack.mjs';

const vsix = process.env.TRELLIS_VSIX ?? pack();
const main = join(
  await bundle('bench', { pattern: 'main.ts', format: 'esm', outExtension: { '.js': '.mjs' } }),
  'main.mjs',
);
const lane = process.env.TRELLIS_LANE ?? '1';
await editors([lane]);
run(process.execPath, [main, ...process.argv.slice(2)], {
  ...environment,
  TRELLIS_LANE: lane,
  TRELLIS_VSIX: vsix,
  TRELLIS_EXTENSION: extension,
});
