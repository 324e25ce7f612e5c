// `npm run test:editor -- [--lane N]… [--only host|workbench] [PART_OF_A_FILE'S_NAME]`: installs the lanes' editors,
// packs the extension, and tests it in the real extension host and in the real workbench of each.
// TRELLIS_BIN is the sidecar to pack, TRELLIS_VSIX a packed extension to take instead.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle, environment, run, runTests } from './bundle.mjs';
import { pack } from './pack.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { lane: { type: 'string', multiple: true, default: ['1'] }, only: { type: 'string' } },
});
const named = positionals[0];
const vsix = process.env.TRELLIS_VSIX ?? pack();
const editors = join(await bundle('lane', { pattern: 'main.ts' }), 'main.js');
const inside = await bundle('host', { pattern: '*.ts', external: ['vscode'] });
const driver = await bundle('driver');
const workbench = await bundle('workbench');

for (const lane of values.lane) {
  const say = (what) => console.error(`lane ${lane}: ${what}`);
  const env = {
    ...environment,
    TRELLIS_LANE: lane,
    TRELLIS_VSIX: vsix,
    TRELLIS_HOST_TESTS: join(inside, 'index.js'),
  };
  const options = { env, options: ['--test-concurrency=1', '--test-reporter=spec'] };
  say('the editor');
  run(process.execPath, [editors, lane]);
  if (values.only !== 'workbench') {
    say('tests inside the extension host');
    runTests(driver, options);
  }
  if (values.only !== 'host') {
    say('tests in the workbench');
    runTests(workbench, { ...options, named });
  }
}
