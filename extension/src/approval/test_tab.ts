// The failing test beside a diff: it is closed with the diff, unless the person has used it.
import { type Memento, type Tab, type TextDocument, type Uri, ViewColumn, workspace } from 'vscode';
import { isSameProposal, type ProposalRef } from './proposal_uri';

/** Column of tests. */
export const TEST_COLUMN = ViewColumn.Two;

/** A test that was opened beside a diff. */
interface OpenedTest extends ProposalRef {
  readonly isPreview: boolean;
  /** Version of the document; unknown for tests of an earlier window. */
  readonly version?: number;
}

/** State key of the URIs of open tests, for the next window, which shows no diffs. */
const KEY = 'trellis.testsBeside';

export class TestTabs {
  private readonly tabs = new Map<string, OpenedTest>();

  constructor(private readonly state: Memento) {}

  /** Keeps a test open that the person asked for. */
  keepOpen(uri: Uri): void {
    this.tabs.delete(uri.toString());
    this.save();
  }

  opened({ root, fix }: ProposalRef, { uri, version }: TextDocument, isPreview: boolean): void {
    this.tabs.set(uri.toString(), { root, fix, version, isPreview });
    this.save();
  }

  /** Returns whether a test was opened for the proposal alone, and is unchanged. */
  isUntouched(tab: Tab, uri: Uri, ref: ProposalRef): boolean {
    const opened = this.tabs.get(uri.toString());
    return opened !== undefined && isSameProposal(opened, ref) && isAsOpened(tab, uri, opened);
  }

  /** Returns whether an earlier window opened a test, and nobody has used it since. */
  isLeftOver(tab: Tab, uri: Uri): boolean {
    const left = this.state.get<readonly string[]>(KEY, []);
    return left.includes(uri.toString()) && isAsOpened(tab, uri, { isPreview: true });
  }

  forget(ref: ProposalRef): void {
    for (const [key, it] of this.tabs) if (isSameProposal(it, ref)) this.tabs.delete(key);
    this.save();
  }

  private save(): void {
    void this.state.update(KEY, [...this.tabs.keys()]);
  }
}

function isAsOpened(tab: Tab, uri: Uri, opened: Pick<OpenedTest, 'isPreview' | 'version'>): boolean {
  if (tab.isDirty || tab.isPinned || tab.group.viewColumn !== TEST_COLUMN) return false;
  const document = workspace.textDocuments.find((it) => it.uri.toString() === uri.toString());
  const isKept = opened.isPreview && !tab.isPreview;
  const isWritten = opened.version !== undefined && document !== undefined;
  return !isKept && !(isWritten && document.version !== opened.version);
}
