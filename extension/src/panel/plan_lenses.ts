// Lenses in the files of plans: of failed nodes, and of plans before their run.
import {
  CodeLens,
  type Disposable,
  EventEmitter,
  l10n,
  languages,
  Range,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import { isHidden } from '../generation/plan_files';
import { certainKindOf, type PlanKind } from '../generation/plan_kind';
import type { Run, RunNode } from '../run/run_state';
import type { RunStore } from '../run/run_store';
import { failedIn } from './node_rows';

/** Registers the lenses, with the reason and a retry. */
export function registerPlanLenses(runs: RunStore): Disposable[] {
  const changeEmitter = new EventEmitter<void>();
  let shown = '';
  const provider = {
    onDidChangeCodeLenses: changeEmitter.event,
    provideCodeLenses: (document: TextDocument) => lensesOf(runs, document),
  };
  return [
    changeEmitter,
    runs.onChange(({ run }) => {
      const now = keyOf(run);
      if (now !== shown) changeEmitter.fire();
      shown = now;
    }),
    languages.registerCodeLensProvider({ language: 'json', scheme: 'file' }, provider),
  ];
}

/** Returns a text that differs once a run gives other lenses. */
function keyOf(run: Run | undefined): string {
  const failed = [...(run?.nodes.values() ?? [])].filter((it) => it.status === 'failed');
  return JSON.stringify([run?.out, run?.graph, failed.map((it) => it.id)]);
}

const kinds = new WeakMap<TextDocument, { readonly version: number; readonly kind: PlanKind }>();

/** Returns the kind of a plan; a text is read once. */
function kindOfDocument(document: TextDocument): PlanKind {
  const { version } = document;
  const known = kinds.get(document);
  const kind = known?.version === version ? known.kind : certainKindOf(document.getText());
  kinds.set(document, { version, kind });
  return kind;
}

function lensesOf(runs: RunStore, document: TextDocument): CodeLens[] {
  const run = runs.current;
  const failed = failedIn(run, document.uri.fsPath, () => document.getText());
  const isOfRun = [run?.graph, `${run?.out}/docs/rpg.json`].includes(document.uri.fsPath);
  const own = lensesOfPlan(document.uri, kindOfDocument(document), isOfRun);
  return [
    ...own,
    ...failed.flatMap(([line, node]) =>
      lensesOfNode(node, run?.out ?? '', new Range(line - 1, 0, line - 1, 0)),
    ),
  ];
}

/** Makes the lenses above a plan: its picture, and its run unless the shown run is one of it. */
function lensesOfPlan(file: Uri, kind: PlanKind, isOfRun: boolean): CodeLens[] {
  if ((kind !== 'graph' && kind !== 'tasks') || isHidden(file)) return [];
  const range = new Range(0, 0, 0, 0);
  const lens = (title: string, command: string) => new CodeLens(range, { title, command, arguments: [file] });
  const show = lens(l10n.t('Show Planning Graph'), 'trellis.showGraph');
  if (!workspace.isTrusted || isOfRun) return [show];
  const start =
    kind === 'tasks'
      ? lens(l10n.t('Build Project…'), 'trellis.tasks')
      : lens(l10n.t('Generate…'), 'trellis.generate');
  return [show, start];
}

function lensesOfNode(node: RunNode, out: string, range: Range): CodeLens[] {
  const retry = { title: l10n.t('Retry'), command: 'trellis.retryNode', arguments: [{ node: node.id, out }] };
  const why = { title: l10n.t('\u2717 failed'), command: 'trellis.showReason', arguments: [node.id] };
  return [new CodeLens(range, why), ...(workspace.isTrusted ? [new CodeLens(range, retry)] : [])];
}
