// The program of a lane's server: how it is called, and what it is given of this machine.
import { delimiter, dirname, join } from 'node:path';
import { editorHome, type Lane, nodeOf, target } from './lanes';
import { factor } from './patience';
import type { Scratch } from './scratch';

/** Environments of Python are made once and shared by all tests; they are the same for all. */
export const cache = join(target, 'tmp', 'cache');

/** Script that {@link nodeOf} the lane runs. */
export const entry = (lane: Lane): string =>
  join(editorHome(lane), 'node_modules', 'code-server', 'out', 'node', 'entry.js');

/** Options that keep it inside of its own folders. */
export const folders = (own: Scratch): string[] => [
  '--user-data-dir',
  own.userData,
  '--extensions-dir',
  own.extensions,
];

/** Nothing of the person's that runs the tests, but where packages come from. */
export function environment(lane: Lane, own: Scratch): NodeJS.ProcessEnv {
  const kept = ['LANG', 'PIP_INDEX_URL', 'PIP_CONFIG_FILE', 'HTTPS_PROXY', 'https_proxy', 'SSL_CERT_FILE'];
  const passed = Object.fromEntries(kept.map((it) => [it, process.env[it]]));
  return {
    ...passed,
    PATH: [dirname(nodeOf(lane)), process.env.PATH ?? ''].join(delimiter),
    HOME: own.home,
    XDG_CONFIG_HOME: own.root,
    XDG_DATA_HOME: own.root,
    EXTENSIONS_GALLERY: '{}',
    TRELLIS_CACHE: cache,
    // Tests inside the extension host wait as long as those outside.
    TRELLIS_PATIENCE: String(factor),
  };
}
