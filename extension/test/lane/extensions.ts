// Packed extensions: the editor installs each once into a folder of the lane, which is copied for servers.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { alone } from './alone';
import { type Lane, nodeOf, target } from './lanes';
import { entry, environment, folders } from './program';
import { type Scratch, scratch } from './scratch';

/** List of the extensions in a folder, with their absolute paths. */
const LIST = 'extensions.json';

/** Adds a packed extension to a server, as the editor itself installs it. */
export async function addExtension(lane: Lane, own: Scratch, vsix: string): Promise<void> {
  const home = join(target, 'editors', 'extensions', lane.version, basename(vsix, '.vsix'));
  await alone(home, async () => {
    const digest = createHash('sha256').update(readFileSync(vsix)).digest('hex');
    const done = join(home, digest);
    if (!existsSync(done)) {
      install(lane, home, vsix);
      // Written last: it exists only after a complete installation.
      writeFileSync(done, '');
    }
    copy(join(home, 'ext'), own.extensions);
  });
}

/** Installs an extension into an empty folder. */
function install(lane: Lane, home: string, vsix: string): void {
  rmSync(home, { recursive: true, force: true });
  const own = scratch({});
  try {
    const inside = { ...own, extensions: join(home, 'ext') };
    mkdirSync(inside.extensions, { recursive: true });
    const args = [entry(lane), ...folders(inside), '--install-extension', vsix];
    const ended = spawnSync(nodeOf(lane), args, { env: environment(lane, inside), encoding: 'utf8' });
    if (ended.error !== undefined) throw ended.error;
    if (ended.status !== 0) throw new Error(`${vsix} was not installed:\n${ended.stdout}${ended.stderr}`);
  } finally {
    own.remove();
  }
}

/** Copies the extensions of one folder into another. */
function copy(from: string, to: string): void {
  for (const it of readdirSync(from).filter((it) => it !== LIST))
    cpSync(join(from, it), join(to, it), { recursive: true, mode: constants.COPYFILE_FICLONE });
  const moved = listed(from, (text) => text.replaceAll(from, to));
  writeFileSync(join(to, LIST), JSON.stringify([...listed(to), ...moved]));
}

/** Reads the list of a folder, with a change of every text in it. */
function listed(folder: string, change = (text: string) => text): unknown[] {
  const path = join(folder, LIST);
  if (!existsSync(path)) return [];
  return JSON.parse(readFileSync(path, 'utf8'), (_, it) => (typeof it === 'string' ? change(it) : it));
}
