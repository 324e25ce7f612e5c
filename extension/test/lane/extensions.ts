// Packed extensions: the editor installs each once into a folder of the lane, and servers get copies of that.
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

/** Where an editor lists the extensions of a folder, with the absolute path of each. */
const LIST = 'extensions.json';

/** Puts a packed extension among a server's own, as the editor itself installs it. */
export async function addExtension(lane: Lane, own: Scratch, vsix: string): Promise<void> {
  const home = join(target, 'editors', 'extensions', lane.version, basename(vsix, '.vsix'));
  await alone(home, async () => {
    const digest = createHash('sha256').update(readFileSync(vsix)).digest('hex');
    const done = join(home, digest);
    if (!existsSync(done)) {
      install(lane, home, vsix);
      // Written last, so that it is there only when everything is.
      writeFileSync(done, '');
    }
    copy(join(home, 'ext'), own.extensions);
  });
}

/** Installs it into a folder that holds nothing else. */
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

/** Copies what is installed in one folder into another, beside what is there. */
function copy(from: string, to: string): void {
  for (const it of readdirSync(from).filter((it) => it !== LIST))
    cpSync(join(from, it), join(to, it), { recursive: true, mode: constants.COPYFILE_FICLONE });
  const moved = listed(from, (text) => text.replaceAll(from, to));
  writeFileSync(join(to, LIST), JSON.stringify([...listed(to), ...moved]));
}

/** Entries of a folder's list, with every text in them changed. */
function listed(folder: string, change = (text: string) => text): unknown[] {
  const path = join(folder, LIST);
  if (!existsSync(path)) return [];
  return JSON.parse(readFileSync(path, 'utf8'), (_, it) => (typeof it === 'string' ? change(it) : it));
}
