// Generated tests that wait for a decision. They are saved, so that a model is not paid twice after a reload.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { FileSystemError, type Memento, type TextDocumentContentProvider, Uri, workspace } from 'vscode';
import type { Generated, GeneratedDraft } from '../protocol';
import { previewTextOf } from './preview_uri';

/** Generated tests that can be written. */
export type GeneratedPreview = Generated & { readonly draft: GeneratedDraft };

export interface TestPreview {
  readonly id: string;
  readonly generated: GeneratedPreview;
  /** Text of the test file before; empty for a new file. */
  readonly base: string;
}

const KEY = 'trellis.testPreviews';

export class TestPreviews implements TextDocumentContentProvider {
  constructor(private readonly saved: Memento) {}

  get all(): readonly TestPreview[] {
    return this.saved.get<TestPreview[]>(KEY, []);
  }

  find(id: string): TestPreview | undefined {
    return this.all.find((it) => it.id === id);
  }

  /** Returns the preview of the same function, which a new one replaces. */
  earlier({ root, function: name }: Generated): TestPreview | undefined {
    return this.all.find((it) => it.generated.root === root && it.generated.function === name);
  }

  async add(generated: GeneratedPreview): Promise<TestPreview> {
    const base = await textOf(join(generated.root, generated.path));
    const preview = { id: randomUUID(), generated, base };
    await this.saved.update(KEY, [...this.all, preview]);
    return preview;
  }

  async remove(id: string): Promise<void> {
    await this.saved.update(
      KEY,
      this.all.filter((it) => it.id !== id),
    );
  }

  provideTextDocumentContent(uri: Uri): string {
    const text = previewTextOf(uri);
    const preview = text && this.find(text.id);
    if (preview === undefined) throw FileSystemError.FileNotFound(uri);
    return text?.side === 'base' ? preview.base : preview.generated.source;
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return new TextDecoder().decode(await workspace.fs.readFile(Uri.file(path)));
  } catch {
    // A new file.
    return '';
  }
}
