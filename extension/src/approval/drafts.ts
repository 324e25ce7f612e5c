// Texts that persons have saved and not had accepted yet: files of the extension's own, which outlive the window.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressOf, EDITED, type Fix, isSame, type Place, placeOf } from './place';

export interface Draft {
  readonly place: Place;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly mtime: number;
}

/** So many are kept; the oldest goes for the next. */
const MOST = 100;

export class Drafts {
  private known: Promise<Map<string, Draft>> | undefined;

  /**
   * @param folder absolute; made with the first draft
   */
  constructor(private readonly folder: string) {}

  async all(): Promise<readonly Draft[]> {
    return [...(await this.read()).values()];
  }

  async of(fix: Fix): Promise<readonly Draft[]> {
    return (await this.all()).filter((it) => isSame(it.place, fix));
  }

  async get(place: Place): Promise<Draft | undefined> {
    return (await this.read()).get(nameOf(place));
  }

  /** Has it on the disk when it resolves. */
  async put(draft: Draft): Promise<void> {
    const known = await this.read();
    const path = join(this.folder, nameOf(draft.place));
    await mkdir(this.folder, { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify(draft));
    await rename(`${path}.new`, path);
    known.set(nameOf(draft.place), draft);
    const old = [...known.values()].sort((a, b) => b.mtime - a.mtime).slice(MOST);
    for (const { place } of old) await this.remove(place);
  }

  async forget(fix: Fix): Promise<void> {
    for (const { place } of await this.of(fix)) await this.remove(place);
  }

  private async remove(place: Place): Promise<void> {
    const name = nameOf(place);
    await rm(join(this.folder, name), { force: true });
    (await this.read()).delete(name);
  }

  private read(): Promise<Map<string, Draft>> {
    this.known ??= kept(this.folder);
    return this.known;
  }
}

async function kept(folder: string): Promise<Map<string, Draft>> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((it) => it.endsWith('.json'));
  const drafts = await Promise.all(files.map((it) => draftIn(join(folder, it))));
  return new Map(drafts.flatMap((it) => (it === undefined ? [] : [[nameOf(it.place), it] as const])));
}

/** None where a file holds something else. */
async function draftIn(path: string): Promise<Draft | undefined> {
  const given: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (typeof given !== 'object' || given === null) return undefined;
  if (!('place' in given && 'text' in given && 'mtime' in given)) return undefined;
  const { text, mtime } = given;
  const place = placeOf({ scheme: EDITED, path: '', query: JSON.stringify(given.place) });
  if (place === undefined || typeof text !== 'string' || typeof mtime !== 'number') return undefined;
  return { place, text, mtime };
}

function nameOf(place: Place): string {
  const { query } = addressOf(EDITED, place);
  return `${createHash('sha256').update(query).digest('hex')}.json`;
}
