// `npm run pictures [-- NAME…]`: takes the pictures of README and walkthrough in the newer editor; see
// test/pictures/main.ts. TRELLIS_BIN is the sidecar to pack.
import { join } from 'node:path';
import { bundle, environment, extension, run } from './bundle.mjs';
import { editors } from './editors.mjs';
import { pack } from './pack.mjs';

const vsix = process.env.TRELLIS_VSIX ?? pack();
const main = join(await bundle('pictures', { pattern: 'main.ts' }), 'main.js');
const lane = process.env.TRELLIS_LANE ?? '2';
await editors([lane]);
run(process.execPath, ['--enable-source-maps', main, ...process.argv.slice(2)], {
  ...environment,
  TRELLIS_LANE: lane,
  TRELLIS_VSIX: vsix,
  TRELLIS_EXTENSION: extension,
});
