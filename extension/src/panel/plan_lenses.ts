// Lenses of failed nodes in the file of their planning graph.
import {
  CodeLens,
  type Disposable,
  EventEmitter,
  l10n,
  languages,
  Range,
  type TextDocument,
  workspace,
} from 'vscode';
import type { RunNode } from '../run/run_state';
import type { RunStore } from '../run/run_store';
import { failedIn } from './node_rows';

/** Registers the lenses, with the reason and a retry. */
export function registerPlanLenses(runs: RunStore): Disposable[] {
  const changeEmitter = new EventEmitter<void>();
  const provider = {
    onDidChangeCodeLenses: changeEmitter.event,
    provideCodeLenses: (document: TextDocument) => lensesOf(runs, document),
  };
  return [
    changeEmitter,
    runs.onChange(() => changeEmitter.fire()),
    languages.registerCodeLensProvider({ language: 'json', scheme: 'file' }, provider),
  ];
}

function lensesOf(runs: RunStore, document: TextDocument): CodeLens[] {
  const run = runs.current;
  const failed = failedIn(run, document.uri.fsPath, document.getText());
  return failed.flatMap(([line, node]) =>
    lensesOfNode(node, run?.out ?? '', new Range(line - 1, 0, line - 1, 0)),
  );
}

function lensesOfNode(node: RunNode, out: string, range: Range): CodeLens[] {
  const retry = { title: l10n.t('Retry'), command: 'trellis.retryNode', arguments: [{ node: node.id, out }] };
  const why = { title: l10n.t('\u2717 failed'), command: 'trellis.showReason', arguments: [node.id] };
  return [new CodeLens(range, why), ...(workspace.isTrusted ? [new CodeLens(range, retry)] : [])];
}
