// The tests that fail, for commands that fix them: in the Testing view, in the editor, in the palette.
import { commands, Disposable, l10n, type TestItem, type TextDocument, Uri, window, workspace } from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import type { Client } from '../sidecar/client';
import { type Lens, lensesOf } from '../sidecar/lenses';
import * as notify from '../sidecar/notify';
import { fields } from '../unknown_value';
import { fileOf, idSteps } from './ids';
import { type Outcome, outcomeOfEvent, outcomesOfResults } from './outcomes';
import type { TestView } from './test_view';
import { itemId } from './tree';
import type { NamedTest } from './types';

/** Milliseconds without a result after which menus are updated. */
const QUIET_MS = 150;

export class FailingTests {
  /** Failing tests, by the id of their item. */
  private readonly failing = new Map<string, NamedTest>();
  private readonly lenses = new WeakMap<TextDocument, readonly Lens[]>();
  private readonly listening: Disposable;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    sidecar: Client,
    private readonly testing: TestView,
  ) {
    this.listening = Disposable.from(
      sidecar.onLenses(({ document, lenses }) => this.lenses.set(document, lensesOf(lenses))),
      sidecar.onEvent((event) => this.handleEvent(event)),
    );
  }

  /**
   * Finds the test that a command is about: the argument of a lens, an item or a message of the Testing view, else the
   * failing test at the caret, in the file, or the chosen one.
   */
  async choose(argument: unknown): Promise<NamedTest | undefined> {
    return (
      namedTest(argument) ?? this.ofItem(argument) ?? this.atCaret() ?? this.inFile() ?? (await this.pick())
    );
  }

  /** Returns the failing tests that the view has. */
  private known(): readonly NamedTest[] {
    const { tree } = this.testing;
    return [...this.failing.values()].filter(({ root, test }) => tree.find(root, test) !== undefined);
  }

  private handleEvent(event: TrellisEvent): void {
    if (event.type === 'results') for (const it of outcomesOfResults(event)) this.take(it);
    else if (event.type === 'test' && !event.draft) this.take(outcomeOfEvent(event));
  }

  private take({ root, id, mark }: Outcome): void {
    const key = itemId({ root, id });
    if (mark === 'failed') this.failing.set(key, { root, test: id });
    else if (!this.failing.delete(key)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.updateMenus(), QUIET_MS);
  }

  /** Sets the context of menus: the items of failing tests, and of the functions and classes around them. */
  private updateMenus(): void {
    // Tests of a run that goes on are not in the view yet.
    const items = [...this.failing.values()].flatMap(({ root, test }) =>
      idSteps(test)
        .filter((step) => step.kind === 'name')
        .map((step) => itemId({ root, id: step.id })),
    );
    void commands.executeCommand('setContext', 'trellis.failingTests', [...new Set(items)]);
    void commands.executeCommand('setContext', 'trellis.hasFailingTests', items.length > 0);
  }

  /** Reads an item of the Testing view, or a message about one. */
  private ofItem(argument: unknown): NamedTest | undefined {
    const { test } = fields(argument);
    const item = isItem(argument) ? argument : isItem(test) ? test : undefined;
    const target = item && this.testing.tree.target(item);
    return target === undefined || target.id === '' ? undefined : { root: target.root, test: target.id };
  }

  /** Returns the test of the lens above the caret. */
  private atCaret(): NamedTest | undefined {
    const active = window.activeTextEditor;
    if (active === undefined) return undefined;
    const line = active.selection.active.line;
    const above = (this.lenses.get(active.document) ?? []).filter((it) => it.line <= line);
    const nearest = Math.max(...above.map((it) => it.line));
    const fix = above.find((it) => it.line === nearest && it.command === 'trellis.proposeFix');
    return namedTest(fix?.args[0]);
  }

  /** Returns the first failing test of the active file. */
  private inFile(): NamedTest | undefined {
    const path = window.activeTextEditor?.document.uri.fsPath;
    return this.known().find(({ root, test }) => `${root}/${fileOf(test)}` === path);
  }

  private async pick(): Promise<NamedTest | undefined> {
    const items = this.known().map((it) => ({
      label: it.test,
      description: workspace.asRelativePath(Uri.file(it.root)),
      it,
    }));
    if (items.length > 0) {
      return (await window.showQuickPick(items, { title: l10n.t('Fix which failing test?') }))?.it;
    }
    this.failing.clear();
    this.updateMenus();
    const run = l10n.t('Run All Tests');
    const chosen = await notify.info(l10n.t('No test is known to fail. Run the tests first.'), run);
    if (chosen === run) await commands.executeCommand('testing.runAll');
    return undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
  }
}

/** Reads the argument of a lens or of an action. */
function namedTest(argument: unknown): NamedTest | undefined {
  const { root, test } = fields(argument);
  return typeof root === 'string' && typeof test === 'string' ? { root, test } : undefined;
}

function isItem(value: unknown): value is TestItem {
  return typeof value === 'object' && value !== null && 'id' in value && 'children' in value;
}
