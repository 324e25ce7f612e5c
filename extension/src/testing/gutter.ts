// Gutter marks with the last outcomes of functions and tests. They move with edits, as lenses and decorations do.
import {
  type Disposable,
  type ExtensionContext,
  type TextDocument,
  type TextEditorDecorationType,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Client } from '../sidecar/client';
import { type Lens, lensesOf, testsOf } from '../sidecar/lenses';
import { marksOf } from './lens_marks';
import type { Mark } from './outcomes';
import { lineRange } from './ranges';

const MARKS: readonly Mark[] = ['passed', 'failed', 'skipped'];

export function registerGutterMarks(context: ExtensionContext, sidecar: Client): Disposable[] {
  const types = new Map(MARKS.map((mark) => [mark, decoration(context, mark)]));
  const last = new WeakMap<TextDocument, readonly Lens[]>();
  const draw = (document: TextDocument) => {
    const marks = marksFor(document, last.get(document) ?? []);
    for (const editor of window.visibleTextEditors.filter((it) => it.document === document)) {
      for (const [mark, type] of types) {
        const lines = marks.filter((it) => it.mark === mark).map((it) => lineRange(it.line));
        editor.setDecorations(type, lines);
      }
    }
  };
  return [
    ...types.values(),
    sidecar.onLenses(({ document, lenses }) => {
      last.set(document, lensesOf(lenses));
      draw(document);
    }),
    workspace.onDidChangeConfiguration((it) => {
      if (!it.affectsConfiguration('trellis.gutter') && !it.affectsConfiguration('testing.gutterEnabled'))
        return;
      for (const editor of window.visibleTextEditors) draw(editor.document);
    }),
  ];
}

function marksFor(document: TextDocument, lenses: readonly Lens[]): readonly { line: number; mark: Mark }[] {
  if (!workspace.getConfiguration('trellis', document.uri).get('gutter', true)) return [];
  const marks = marksOf(lenses);
  // The Testing view draws its own marks beside tests.
  if (!workspace.getConfiguration('testing', document.uri).get('gutterEnabled', true)) return marks;
  const path = document.uri.fsPath.replaceAll('\\', '/');
  const drawn = new Set(testsOf(path, lenses).map((it) => it.line));
  return marks.filter((it) => !drawn.has(it.line));
}

function decoration(context: ExtensionContext, mark: Mark): TextEditorDecorationType {
  const icon = (theme: string) => Uri.joinPath(context.extensionUri, 'media', `${mark}-${theme}.svg`);
  return window.createTextEditorDecorationType({
    light: { gutterIconPath: icon('light') },
    dark: { gutterIconPath: icon('dark') },
    gutterIconSize: 'contain',
  });
}
