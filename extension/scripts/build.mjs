// Bundles what VS Code loads.
import { build, context } from 'esbuild';
import { demonstration } from './assets.mjs';
import { bundles } from './bundles.mjs';

demonstration();
const all = bundles(process.argv.includes('--production'));
if (process.argv.includes('--watch')) {
  for (const it of all) await (await context(it)).watch();
} else {
  await Promise.all(all.map((it) => build(it)));
}
