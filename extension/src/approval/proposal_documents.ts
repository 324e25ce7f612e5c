// Documents with texts of proposals: those of the sidecar, and editable ones.
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
import { FlatFileSystem } from '../files/flat_file_system';
import type { FileShape, FixResult } from '../protocol';
import { type Sidecar, TrellisError } from '../sidecar/api';
import type { Drafts } from './drafts';
import {
  EDIT_SCHEME,
  PROPOSAL_SCHEME,
  type ProposalRef,
  proposalKey,
  type TextRef,
  textRefOf,
  uriPartsOf,
} from './proposal_uri';
import { decodeUtf8, encodeUtf8 } from './text_encoding';

/** A file of a revision, which never changes. */
export interface RevisionFile {
  readonly fix: FixResult;
  readonly file: FileShape;
}

export function textUri(scheme: typeof PROPOSAL_SCHEME | typeof EDIT_SCHEME, ref: TextRef): Uri {
  return Uri.from(uriPartsOf(scheme, ref));
}

export class ProposalTexts implements TextDocumentContentProvider {
  private readonly known = new Map<string, FixResult>();

  constructor(private readonly sidecar: Sidecar) {}

  /** Reads the newest revision of a proposal. */
  async get({ root, fix }: ProposalRef): Promise<FixResult> {
    const found = await this.sidecar.request('trellis/getFix', { root, fix });
    this.known.set(proposalKey({ root, fix }), found);
    return found;
  }

  /**
   * Finds a file of a revision.
   * @throws a {@link TrellisError} if the proposal has another revision by now
   */
  async find(ref: TextRef): Promise<RevisionFile> {
    const known = this.known.get(proposalKey(ref));
    const fix = known?.revision === ref.revision ? known : await this.get(ref);
    const file = fix.files.find((it) => it.path === ref.path);
    if (fix.revision === ref.revision && file !== undefined) return { fix, file };
    const text = l10n.t('{0} has changed since you opened it', ref.fix);
    throw new TrellisError(text, 65, l10n.t('review it again'), 'stale');
  }

  async text(ref: TextRef): Promise<string> {
    const { file } = await this.find(ref);
    return ref.side === 'base' ? (file.base ?? '') : file.proposed;
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const place = textRefOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    return await this.text(place);
  }
}

/** Editable texts of proposals, which are not part of the project. */
export class EditFileSystem extends FlatFileSystem implements FileSystemProvider {
  private readonly changes = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;

  constructor(
    private readonly texts: ProposalTexts,
    private readonly drafts: Drafts,
  ) {
    super();
  }

  watch(): Disposable {
    return new Disposable(() => {});
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, mtime } = await this.read(uri);
    return { type: FileType.File, ctime: 0, mtime, size: encodeUtf8(text).length };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return encodeUtf8(await this.text(uri));
  }

  /** Returns the saved draft, else the proposed text. */
  async text(uri: Uri): Promise<string> {
    return (await this.read(uri)).text;
  }

  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const place = textRefOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    const text = decodeUtf8(bytes);
    if (text === undefined) {
      throw FileSystemError.NoPermissions(
        l10n.t('Not saved: this text must be UTF-8. Choose "Save with Encoding", then UTF-8.'),
      );
    }
    await this.drafts.put({ place, text, mtime: Date.now() });
    this.changes.fire([{ type: FileChangeType.Changed, uri }]);
  }

  private async read(uri: Uri): Promise<{ text: string; mtime: number }> {
    const place = textRefOf(uri);
    if (place === undefined) throw FileSystemError.FileNotFound(uri);
    return (await this.drafts.get(place)) ?? { text: await this.texts.text(place), mtime: 0 };
  }
}

export function registerDocuments(texts: ProposalTexts, edits: EditFileSystem): Disposable[] {
  return [
    workspace.registerTextDocumentContentProvider(PROPOSAL_SCHEME, texts),
    workspace.registerFileSystemProvider(EDIT_SCHEME, edits, { isCaseSensitive: true }),
  ];
}
