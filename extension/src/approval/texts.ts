// Texts of proposals as documents: those that the sidecar gives, and those that a person makes of them.
import {
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  l10n,
  type TextDocumentContentProvider,
  Uri,
  workspace,
} from 'vscode';
import type { FileShape, FixResult } from '../protocol';
import { type Sidecar, TrellisError } from '../sidecar/api';
import type { Drafts } from './drafts';
import { addressOf, EDITED, type Fix, keyOf, type Place, placeOf, SHOWN } from './place';
import { bytesOf, textOf } from './plain';

/** Of one revision, which never changes. */
export interface Found {
  readonly fix: FixResult;
  readonly file: FileShape;
}

export function uriOf(scheme: typeof SHOWN | typeof EDITED, place: Place): Uri {
  return Uri.from(addressOf(scheme, place));
}

export class Texts implements TextDocumentContentProvider {
  private readonly known = new Map<string, FixResult>();

  constructor(private readonly sidecar: Sidecar) {}

  /** As it is now. */
  async get({ root, fix }: Fix): Promise<FixResult> {
    const found = await this.sidecar.request('trellis/getFix', { root, fix });
    this.known.set(keyOf({ root, fix }), found);
    return found;
  }

  /** @throws a {@link TrellisError} where it has another revision by now */
  async find(place: Place): Promise<Found> {
    const known = this.known.get(keyOf(place));
    const fix = known?.revision === place.revision ? known : await this.get(place);
    const file = fix.files.find((it) => it.path === place.path);
    if (fix.revision === place.revision && file !== undefined) return { fix, file };
    const text = l10n.t('{0} has changed since you opened it', place.fix);
    throw new TrellisError(text, 65, l10n.t('review it again'), 'stale');
  }

  async text(place: Place): Promise<string> {
    const { file } = await this.find(place);
    return place.side === 'base' ? (file.base ?? '') : file.proposed;
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const place = placeOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    return await this.text(place);
  }
}

/** What a person writes: nothing of it is in the project. */
export class Edits implements FileSystemProvider {
  private readonly changes = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;

  constructor(
    private readonly texts: Texts,
    private readonly drafts: Drafts,
  ) {}

  watch(): Disposable {
    return new Disposable(() => {});
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, mtime } = await this.read(uri);
    return { type: FileType.File, ctime: 0, mtime, size: bytesOf(text).length };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return bytesOf(await this.text(uri));
  }

  /** As it was saved last, else as it is proposed. */
  async text(uri: Uri): Promise<string> {
    return (await this.read(uri)).text;
  }

  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const place = placeOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    const text = textOf(bytes);
    if (text === undefined) {
      throw FileSystemError.NoPermissions(
        l10n.t('Not saved: this text must be UTF-8. Choose "Save with Encoding", then UTF-8.'),
      );
    }
    await this.drafts.put({ place, text, mtime: Date.now() });
    this.changes.fire([{ type: FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(from: Uri): void {
    throw FileSystemError.NoPermissions(from);
  }

  private async read(uri: Uri): Promise<{ text: string; mtime: number }> {
    const place = placeOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    return (await this.drafts.get(place)) ?? { text: await this.texts.text(place), mtime: 0 };
  }
}

export function documents(texts: Texts, edits: Edits): Disposable[] {
  return [
    workspace.registerTextDocumentContentProvider(SHOWN, texts),
    workspace.registerFileSystemProvider(EDITED, edits, { isCaseSensitive: true }),
  ];
}
