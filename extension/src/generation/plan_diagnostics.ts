// Problems of planning graphs and task lists in the editor, while their text is changed.
import {
  Diagnostic,
  type DiagnosticCollection,
  DiagnosticSeverity,
  Disposable,
  languages,
  Range,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import type { PlanDiagnostic } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { isHidden } from './plan_files';
import { certainKindOf } from './plan_kind';

/** Milliseconds after the last change before the text is checked. */
const CHANGE_DELAY_MS = 300;
/** Maximal length of a checked text. */
const MAX_LENGTH = 8_000_000;

export class PlanDiagnostics {
  private readonly collection: DiagnosticCollection = languages.createDiagnosticCollection('trellis-plan');
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** Files that were recognized; a text that is broken for the moment is still a plan. */
  private readonly known = new Set<string>();
  private readonly listening: Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.listening = [
      this.collection,
      workspace.onDidOpenTextDocument((it) => this.schedule(it, 0)),
      workspace.onDidChangeTextDocument(({ document }) => this.schedule(document, CHANGE_DELAY_MS)),
      workspace.onDidSaveTextDocument((it) => this.schedule(it, 0)),
      workspace.onDidCloseTextDocument((it) => this.forget(it.uri)),
    ];
    for (const it of workspace.textDocuments) this.schedule(it, 0);
  }

  dispose(): void {
    for (const it of this.timers.values()) clearTimeout(it);
    Disposable.from(...this.listening).dispose();
  }

  private schedule(document: TextDocument, delay: number): void {
    const { uri } = document;
    if (uri.scheme !== 'file' || !uri.fsPath.endsWith('.json') || isHidden(uri)) return;
    clearTimeout(this.timers.get(uri.fsPath));
    const timer = setTimeout(() => {
      this.timers.delete(uri.fsPath);
      void this.check(document);
    }, delay);
    this.timers.set(uri.fsPath, timer);
  }

  private async check(document: TextDocument): Promise<void> {
    const { uri, version } = document;
    const text = document.getText();
    if (!this.isPlan(uri, text)) return this.collection.delete(uri);
    const found = await this.sidecar
      .request('trellis/planDiagnostics', { graph: uri.fsPath, text })
      // Without a server there are no diagnostics; its own state is shown in the status bar.
      .catch(() => undefined);
    if (found === undefined || document.isClosed || document.version !== version) return;
    this.collection.set(
      uri,
      found.diagnostics.map((it) => diagnosticOf(it, document)),
    );
  }

  private isPlan(uri: Uri, text: string): boolean {
    if (text.length > MAX_LENGTH) return false;
    const kind = certainKindOf(text);
    if (kind === 'graph' || kind === 'tasks') this.known.add(uri.fsPath);
    else if (kind === 'other') this.known.delete(uri.fsPath);
    return this.known.has(uri.fsPath) || (kind === 'broken' && /rpg[^/\\]*\.json$/i.test(uri.fsPath));
  }

  private forget(uri: Uri): void {
    clearTimeout(this.timers.get(uri.fsPath));
    this.timers.delete(uri.fsPath);
    this.known.delete(uri.fsPath);
    this.collection.delete(uri);
  }
}

function diagnosticOf(it: PlanDiagnostic, document: TextDocument): Diagnostic {
  const message = it.hint ? `${it.message}\n${it.hint}` : it.message;
  const severity = it.severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning;
  const subject = it.node ? `${it.node}: ${message}` : message;
  const made = new Diagnostic(rangeOf(it, document), subject, severity);
  made.source = 'Trellis';
  made.code = it.kind;
  return made;
}

/** Converts a place in characters; problems of the file as a whole are shown in its first line. */
function rangeOf({ range }: PlanDiagnostic, document: TextDocument): Range {
  if (!range) return new Range(0, 0, 0, 0);
  const line = Math.min(range.line - 1, document.lineCount - 1);
  const characters = [...document.lineAt(line).text];
  const offset = (column: number) => characters.slice(0, column - 1).join('').length;
  return new Range(line, offset(range.column), line, offset(range.endColumn));
}
