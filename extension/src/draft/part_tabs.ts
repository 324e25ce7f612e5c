// The tab of the part that waits: its problems as marks, and what can be decided as lenses.
import {
  CodeLens,
  commands,
  Diagnostic,
  DiagnosticSeverity,
  Disposable,
  l10n,
  languages,
  Range,
  type Tab,
  TabInputText,
  type Uri,
  window,
  workspace,
} from 'vscode';
import type { DraftStore } from './draft_store';
import { PART_SCHEME, partUri } from './part_files';

const t = l10n.t;
const TOP = new Range(0, 0, 0, 0);

export class PartTabs {
  private readonly marks = languages.createDiagnosticCollection(PART_SCHEME);
  private readonly listening: Disposable;

  constructor(private readonly store: DraftStore) {
    this.listening = Disposable.from(
      this.marks,
      languages.registerCodeLensProvider(
        { scheme: PART_SCHEME },
        { provideCodeLenses: () => lenses(store.current?.part?.problems.length ?? 0) },
      ),
      store.onChange(() => this.mark()),
    );
    this.mark();
  }

  dispose(): void {
    this.listening.dispose();
  }

  /** Shows the part that waits, and closes the tabs of others. */
  async show(): Promise<void> {
    const uri = this.uri;
    await this.closeOthers(uri);
    if (uri !== undefined) await window.showTextDocument(uri, { preview: false });
  }

  /** Returns the text of the part as the person sees it, and saves it. */
  async editedText(): Promise<string | undefined> {
    const document = this.document;
    const text = document?.getText();
    if (document?.isDirty) await document.save();
    return text;
  }

  /** Returns the text of the part in its tab, if it is open. */
  shownText(): string | undefined {
    return this.document?.getText();
  }

  /** Gives up what is not saved, so that the tab shows what comes next. */
  async revert(): Promise<void> {
    if (!this.document?.isDirty) return;
    await window.showTextDocument(this.document, { preview: false });
    await commands.executeCommand('workbench.action.files.revert');
  }

  private get document() {
    const uri = this.uri;
    return workspace.textDocuments.find((it) => it.uri.toString() === uri?.toString());
  }

  private get uri(): Uri | undefined {
    return this.store.current && partUri(this.store.current);
  }

  private async closeOthers(uri: Uri | undefined): Promise<void> {
    const isOld = ({ input }: Tab) =>
      input instanceof TabInputText &&
      input.uri.scheme === PART_SCHEME &&
      input.uri.toString() !== uri?.toString();
    const old = window.tabGroups.all.flatMap((it) => it.tabs).filter(isOld);
    if (old.length > 0) await window.tabGroups.close(old);
  }

  /** Marks what is wrong with the part. */
  private mark(): void {
    this.marks.clear();
    const [uri, part] = [this.uri, this.store.current?.part];
    if (uri === undefined || part === undefined) return;
    const mark = (text: string) => {
      const made = new Diagnostic(TOP, text, DiagnosticSeverity.Warning);
      made.source = 'Trellis';
      return made;
    };
    this.marks.set(uri, part.problems.map(mark));
  }
}

/** Makes the decisions on a part, and the way to its problems. */
function lenses(problems: number): CodeLens[] {
  const lens = (title: string, command: string) => new CodeLens(TOP, { title, command });
  return [
    lens(t('$(check) Accept'), 'trellis.acceptPart'),
    lens(t('$(comment) Send Back…'), 'trellis.sendPartBack'),
    ...(problems === 0 ? [] : [lens(problemsText(problems), 'workbench.actions.view.problems')]),
  ];
}

function problemsText(count: number): string {
  return count === 1 ? t('$(warning) 1 problem') : t('$(warning) {0} problems', count);
}
