// The command of a lane's server, and its environment.
import { delimiter, dirname, join } from 'node:path';
import { editorHome, type Lane, nodeOf, target } from './lanes';
import { factor } from './patience';
import type { Scratch } from './scratch';

/** Python environments are made once and shared by all tests. */
export const cache = join(target, 'tmp', 'cache');

/** Script that {@link nodeOf} the lane runs. */
export const entry = (lane: Lane): string =>
  join(editorHome(lane), 'node_modules', 'code-server', 'out', 'node', 'entry.js');

/** Options that keep the server inside of its own folders. */
export const folders = (own: Scratch): string[] => [
  '--user-data-dir',
  own.userData,
  '--extensions-dir',
  own.extensions,
];

/** Makes the environment: nothing of the person's own, except the sources of packages. */
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
    // Tests inside the extension host have the same limits.
    TRELLIS_PATIENCE: String(factor),
  };
}
