// The part of a draft that waits, as a document that can be edited.
import { basename } from 'node:path';
import {
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  Uri,
} from 'vscode';
import { FlatFileSystem } from '../files/flat_file_system';
import type { DraftStore, OpenDraft, WaitingPart } from './draft_store';

export const PART_SCHEME = 'trellis-draft';

/** Returns the document of the part that waits. */
export function partUri({ choice, part }: OpenDraft): Uri | undefined {
  if (part === undefined) return undefined;
  const [, file] = /^interface of (?:.*\/)?([^/]+)$/.exec(part.part) ?? [];
  const name = file ?? `${part.part}.json`;
  return Uri.from({ scheme: PART_SCHEME, path: `/${basename(choice.out)}/${name}`, query: part.part });
}

export class PartFiles extends FlatFileSystem implements FileSystemProvider {
  private readonly changes = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;

  constructor(private readonly store: DraftStore) {
    super();
    store.onChange(() => {
      const uri = this.store.current && partUri(this.store.current);
      if (uri !== undefined) this.changes.fire([{ type: FileChangeType.Changed, uri }]);
    });
  }

  watch(): Disposable {
    return new Disposable(() => {});
  }

  stat(uri: Uri): FileStat {
    const part = this.part(uri);
    return { type: FileType.File, ctime: 0, mtime: part.mtime, size: Buffer.byteLength(textOf(part)) };
  }

  readFile(uri: Uri): Uint8Array {
    return Buffer.from(textOf(this.part(uri)));
  }

  /** Keeps the text that the person saved; *Accept Part* sends it. */
  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const part = this.part(uri);
    const draft = this.store.current;
    if (draft === undefined) throw FileSystemError.FileNotFound(uri);
    const edited = new TextDecoder().decode(bytes);
    await this.store.set({ ...draft, part: { ...part, edited, mtime: Date.now() } });
  }

  private part(uri: Uri): WaitingPart {
    const draft = this.store.current;
    const own = draft && partUri(draft);
    if (draft?.part === undefined || own?.toString() !== uri.toString())
      throw FileSystemError.FileNotFound(uri);
    return draft.part;
  }
}

export function textOf({ edited, text }: WaitingPart): string {
  return edited ?? text;
}
