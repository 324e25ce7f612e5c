// The failing test beside a difference: it goes with the difference, where nobody has made it their own.
import { type Memento, type Tab, type TextDocument, type Uri, ViewColumn, workspace } from 'vscode';
import { type Fix, isSame } from './place';

/** Where tests are shown. */
export const BESIDE = ViewColumn.Two;

/** How a test was opened, which nobody had open there before. */
interface Opened extends Fix {
  readonly isPreview: boolean;
  /** Of the document; unknown of what an earlier window opened. */
  readonly version?: number;
}

/** Addresses of tests that are open, for the next window: it shows no difference any more. */
const KEY = 'trellis.testsBeside';

export class Beside {
  private readonly opened = new Map<string, Opened>();

  constructor(private readonly memory: Memento) {}

  /** Whoever asks for a test has made it their own. */
  own(uri: Uri): void {
    this.opened.delete(uri.toString());
    this.remember();
  }

  opens({ root, fix }: Fix, { uri, version }: TextDocument, isPreview: boolean): void {
    this.opened.set(uri.toString(), { root, fix, version, isPreview });
    this.remember();
  }

  /** Whether it was opened for the proposal alone, and is as it was then. */
  isUntouched(tab: Tab, uri: Uri, of: Fix): boolean {
    const opened = this.opened.get(uri.toString());
    return opened !== undefined && isSame(opened, of) && isAsOpened(tab, uri, opened);
  }

  /** Whether an earlier window opened it, and nobody has made it their own since. */
  isLeftOver(tab: Tab, uri: Uri): boolean {
    const left = this.memory.get<readonly string[]>(KEY, []);
    return left.includes(uri.toString()) && isAsOpened(tab, uri, { isPreview: true });
  }

  forget(of: Fix): void {
    for (const [key, it] of this.opened) if (isSame(it, of)) this.opened.delete(key);
    this.remember();
  }

  private remember(): void {
    void this.memory.update(KEY, [...this.opened.keys()]);
  }
}

function isAsOpened(tab: Tab, uri: Uri, opened: Pick<Opened, 'isPreview' | 'version'>): boolean {
  if (tab.isDirty || tab.isPinned || tab.group.viewColumn !== BESIDE) return false;
  const document = workspace.textDocuments.find((it) => it.uri.toString() === uri.toString());
  const isKept = opened.isPreview && !tab.isPreview;
  const isWritten = opened.version !== undefined && document !== undefined;
  return !isKept && !(isWritten && document.version !== opened.version);
}
