// Bundles what VS Code loads: the extension, and the page of the planning graph.
import { build, context } from 'esbuild';
import { demonstration } from './assets.mjs';

demonstration();
const production = process.argv.includes('--production');
const shared = {
  bundle: true,
  minify: production,
  sourcemap: !production,
  logLevel: 'warning',
  outdir: 'dist',
};
const bundles = [
  {
    ...shared,
    entryPoints: ['src/extension.ts'],
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
  },
  {
    ...shared,
    entryPoints: { graph: 'webview/graph.ts' },
    platform: 'browser',
    target: 'chrome128',
    format: 'iife',
  },
];
if (process.argv.includes('--watch')) {
  for (const it of bundles) await (await context(it)).watch();
} else {
  await Promise.all(bundles.map((it) => build(it)));
}
