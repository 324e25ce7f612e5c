// Bundles of the extension and of its pages.
import { build } from 'esbuild';

export const bundles = (production) => {
  const shared = {
    bundle: true,
    minify: production,
    sourcemap: !production,
    logLevel: 'warning',
    outdir: 'dist',
  };
  return [
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
      entryPoints: { graph: 'webview/graph.ts', node: 'webview/node.ts' },
      platform: 'browser',
      target: 'chrome128',
      format: 'iife',
    },
  ];
};

/** Lists the folders of npm packages with code in the bundles, as the lock file names them, sorted. */
export async function bundled() {
  const made = await Promise.all(bundles(true).map((it) => build({ ...it, write: false, metafile: true })));
  const used = made.flatMap((it) => Object.values(it.metafile.outputs).flatMap(taken));
  return [...new Set(used)].sort();
}

/** An input without a byte in the bundle is not part of it. */
function taken({ inputs }) {
  const left = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return left.flatMap(([path]) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
}
