// Saved edits that are not accepted yet: files of the extension, which outlive the window.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  EDIT_SCHEME,
  isSameProposal,
  type ProposalRef,
  type TextRef,
  textRefOf,
  uriPartsOf,
} from './proposal_uri';

export interface Draft {
  readonly place: TextRef;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly mtime: number;
}

/** Maximal number of drafts; the oldest is deleted for a new one. */
const MAX_DRAFTS = 100;

export class Drafts {
  private known: Promise<Map<string, Draft>> | undefined;

  /** @param folder absolute; made with the first draft */
  constructor(private readonly folder: string) {}

  async all(): Promise<readonly Draft[]> {
    return [...(await this.read()).values()];
  }

  async of(fix: ProposalRef): Promise<readonly Draft[]> {
    return (await this.all()).filter((it) => isSameProposal(it.place, fix));
  }

  async get(ref: TextRef): Promise<Draft | undefined> {
    return (await this.read()).get(fileNameOf(ref));
  }

  /** Writes a draft to the disk. */
  async put(draft: Draft): Promise<void> {
    const known = await this.read();
    const path = join(this.folder, fileNameOf(draft.place));
    await mkdir(this.folder, { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify(draft));
    await rename(`${path}.new`, path);
    known.set(fileNameOf(draft.place), draft);
    const old = [...known.values()].sort((a, b) => b.mtime - a.mtime).slice(MAX_DRAFTS);
    for (const { place } of old) await this.remove(place);
  }

  async forget(fix: ProposalRef): Promise<void> {
    for (const { place } of await this.of(fix)) await this.remove(place);
  }

  private async remove(ref: TextRef): Promise<void> {
    const name = fileNameOf(ref);
    await rm(join(this.folder, name), { force: true });
    (await this.read()).delete(name);
  }

  private read(): Promise<Map<string, Draft>> {
    this.known ??= readDrafts(this.folder);
    return this.known;
  }
}

async function readDrafts(folder: string): Promise<Map<string, Draft>> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((it) => it.endsWith('.json'));
  const drafts = await Promise.all(files.map((it) => readDraft(join(folder, it))));
  return new Map(drafts.flatMap((it) => (it === undefined ? [] : [[fileNameOf(it.place), it] as const])));
}

/** Reads a draft; `undefined` if the file contains something else. */
async function readDraft(path: string): Promise<Draft | undefined> {
  const argument: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (typeof argument !== 'object' || argument === null) return undefined;
  if (!('place' in argument && 'text' in argument && 'mtime' in argument)) return undefined;
  const { text, mtime } = argument;
  const place = textRefOf({ scheme: EDIT_SCHEME, path: '', query: JSON.stringify(argument.place) });
  if (place === undefined || typeof text !== 'string' || typeof mtime !== 'number') return undefined;
  return { place, text, mtime };
}

function fileNameOf(ref: TextRef): string {
  const { query } = uriPartsOf(EDIT_SCHEME, ref);
  return `${createHash('sha256').update(query).digest('hex')}.json`;
}
