// Files of changes: texts before the work from the sidecar, and those of the worktree, which can be edited.
import { unwatchFile, watchFile } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  FilePermission,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  Uri,
} from 'vscode';
import { FlatFileSystem } from '../files/flat_file_system';
import type { Sidecar } from '../sidecar/api';
import { type IssueText, issueTextOf, issueUriParts } from './review_uri';
import { type IssueRef, type IssueReview, issueKey } from './reviews';

/** Milliseconds between two checks of an open file. */
const POLL_MS = 1000;

export function issueUri(text: IssueText): Uri {
  return Uri.from(issueUriParts(text));
}

/** Makes the changes of all texts of an issue. */
function changesOf({ root, issue, files }: IssueReview): FileChangeEvent[] {
  const texts = files.flatMap(({ path }) =>
    (['base', 'work'] as const).map((side): IssueText => ({ root, issue, path, side })),
  );
  return texts.map((it) => ({ type: FileChangeType.Changed, uri: issueUri(it) }));
}

export class ReviewFiles extends FlatFileSystem implements FileSystemProvider {
  private readonly changes = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;
  /** Changes by issue, also those decided since: their tabs may still be open. */
  private readonly known = new Map<string, IssueReview>();

  constructor(private readonly sidecar: Sidecar) {
    super();
  }

  /** Takes in the changes that are listed. */
  update(reviews: readonly IssueReview[]): void {
    for (const it of reviews) {
      const old = this.known.get(issueKey(it));
      this.known.set(issueKey(it), it);
      // The editor watches no file of a difference of several files.
      if (old !== undefined && old.tip !== it.tip) this.changes.fire(changesOf(it));
    }
  }

  /** Returns the text of a file before the work; `undefined` for a new file. */
  async baseText({ root, issue, path }: IssueText): Promise<string | undefined> {
    const { text } = await this.sidecar.request('trellis/reviewBase', { root, issue, path });
    return text ?? undefined;
  }

  watch(uri: Uri): Disposable {
    const text = issueTextOf(uri);
    const review = text?.side === 'work' ? this.known.get(issueKey(text)) : undefined;
    if (text === undefined || review === undefined) return new Disposable(() => {});
    const place = join(review.worktree, text.path);
    const changed = () => this.changes.fire([{ type: FileChangeType.Changed, uri }]);
    watchFile(place, { interval: POLL_MS }, changed);
    return new Disposable(() => unwatchFile(place, changed));
  }

  async stat(uri: Uri): Promise<FileStat> {
    const text = this.textOf(uri);
    if (text.side === 'base') {
      const size = Buffer.byteLength((await this.baseText(text)) ?? '');
      return { type: FileType.File, ctime: 0, mtime: 0, size, permissions: FilePermission.Readonly };
    }
    const { size, mtimeMs, ctimeMs } = await stat(await this.placeOf(text, uri)).catch(() => {
      throw FileSystemError.FileNotFound(uri);
    });
    return { type: FileType.File, ctime: ctimeMs, mtime: mtimeMs, size };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const text = this.textOf(uri);
    if (text.side === 'base') return Buffer.from((await this.baseText(text)) ?? '');
    return await readFile(await this.placeOf(text, uri));
  }

  /** Saves the person's edit into the worktree. */
  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const text = this.textOf(uri);
    if (text.side === 'base') throw FileSystemError.NoPermissions(uri);
    await writeFile(await this.placeOf(text, uri), bytes);
    this.changes.fire([{ type: FileChangeType.Changed, uri }]);
  }

  private textOf(uri: Uri): IssueText {
    const text = issueTextOf(uri);
    if (text === undefined) throw FileSystemError.FileNotFound(uri);
    return text;
  }

  /** Returns the place in the worktree; only files of the change have one. */
  private async placeOf(text: IssueText, uri: Uri): Promise<string> {
    const review = this.known.get(issueKey(text)) ?? (await this.find(text));
    if (!review?.files.some((it) => it.path === text.path)) throw FileSystemError.FileNotFound(uri);
    return join(review.worktree, text.path);
  }

  private async find(ref: IssueRef): Promise<IssueReview | undefined> {
    const { reviews } = await this.sidecar.request('trellis/listReviews', { root: ref.root });
    this.update(reviews.map((it) => ({ ...it, root: ref.root })));
    return this.known.get(issueKey(ref));
  }
}
