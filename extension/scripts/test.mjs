// `npm run test:editor -- [--lane N]… [--short | --whole] [--only host|workbench] [--beside N] [PART_OF_A_FILE'S_NAME]`:
// installs the lanes' editors, packs the extension, and tests it in the real extension host and in the real workbench
// of each. TRELLIS_BIN is the sidecar to pack, TRELLIS_VSIX a packed extension to use instead; TRELLIS_PATIENCE
// multiplies all time limits.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle, environment, testFiles } from './bundle.mjs';
import { editors } from './editors.mjs';
import { runLane } from './lane.mjs';
import { pack } from './pack.mjs';
import { selected } from './selection.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lane: { type: 'string', multiple: true, default: ['1'] },
    short: { type: 'boolean' },
    whole: { type: 'boolean' },
    only: { type: 'string' },
    // Files mostly wait: more of them than this make all slower.
    beside: { type: 'string', default: String(Math.min(4, Math.max(2, availableParallelism()))) },
  },
});
const vsix = process.env.TRELLIS_VSIX ?? pack();
const inside = await bundle('host', { pattern: '*.ts', external: ['vscode'] });
const all = {
  host: testFiles(await bundle('driver')),
  workbench: testFiles(await bundle('workbench')),
};
const selectedKinds = values.only === undefined ? Object.values(all) : [all[values.only]];
if (selectedKinds.includes(undefined))
  throw new Error(`--only ${values.only}: it has to be host or workbench`);
const files = selected(selectedKinds.flat(), {
  short: values.short,
  whole: values.whole,
  named: positionals[0],
});
if (files.length === 0) {
  const lanes = values.lane.join(', ');
  console.error(`lane ${lanes}: passed over, the short lane has no test file called *${positionals[0]}*`);
} else {
  await editors(values.lane);
  let passed = true;
  for (const lane of values.lane) {
    const env = {
      ...environment,
      TRELLIS_LANE: lane,
      TRELLIS_VSIX: vsix,
      TRELLIS_HOST_TESTS: join(inside, 'index.js'),
    };
    passed = (await runLane(lane, files, { env, beside: Number(values.beside) })) && passed;
  }
  process.exitCode = passed ? 0 : 1;
}
