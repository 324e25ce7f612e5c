// The editor's Testing view: its tree is made of what the sidecar finds, its runs are the sidecar's.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type CancellationToken,
  type Disposable,
  l10n,
  Range,
  type TestController,
  type TestItem,
  type TestRunProfile,
  TestRunProfileKind,
  type TestRunRequest,
  tests,
  Uri,
  workspace,
} from 'vscode';
import { allowed } from '../allowed';
import { own } from '../generation/generate';
import type { Choice, RunTestsParams, RunTestsResult } from '../protocol';
import { isBelow } from '../run/folders';
import type { Client, GivenLenses } from '../sidecar/client';
import { complain } from '../sidecar/tell';
import { detailsOf } from './coverage';
import { lensesOf } from './gutter';
import { isWithin, stepsOf } from './ids';
import { testsOf } from './lens_marks';
import { Live } from './live';
import { leavingOut, nestedIn } from './nested';
import { foundBy, type Outcome } from './outcomes';
import { runTests } from './run';

/** What an item of the tree stands for. */
export interface Target {
  /** The project's folder. */
  readonly root: string;
  /** Relative to it; empty for all of it. */
  readonly id: string;
}

/** What tests of a project are run with. */
export interface Kind {
  readonly coverage: boolean;
}

/** The tree, and the profiles by which it runs. Items are known by folder and id. */
export class Testing {
  readonly controller: TestController;
  readonly profile: TestRunProfile;
  private readonly targets = new WeakMap<TestItem, Target>();

  constructor(private readonly sidecar: Client) {
    this.controller = tests.createTestController('trellis', 'Trellis');
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) this.showFolders();
      else await this.collect([item]);
    };
    this.controller.refreshHandler = (token) =>
      this.collect(
        [...this.controller.items].map(([, it]) => it),
        token,
      );
    this.profile = this.profiles();
  }

  begin(): Disposable[] {
    this.showFolders();
    const deletions = workspace.createFileSystemWatcher('**/*', true, true, false);
    return [
      this.controller,
      deletions,
      deletions.onDidDelete(({ fsPath }) => this.deleted(fsPath)),
      this.sidecar.onLenses((it) => this.found(it)),
      workspace.onDidChangeWorkspaceFolders(() => this.showFolders()),
    ];
  }

  target(item: TestItem): Target | undefined {
    return this.targets.get(item);
  }

  /** The item of a test, made if need be, with all that are above it. */
  item(root: string, id: string): TestItem {
    let item = this.rootItem(root);
    if (id === '') return item;
    const [file] = stepsOf(id);
    const uri = file === undefined ? undefined : Uri.file(join(root, file.id));
    for (const step of stepsOf(id)) item = this.child(item, { root, id: step.id }, step.label, uri);
    return item;
  }

  /** Puts a test into the tree, at the place that its outcome tells. */
  place(outcome: Outcome): TestItem {
    const item = this.item(outcome.root, outcome.id);
    // What a document says of its own text is fresher than what the disk had.
    if (outcome.line !== undefined && item.range === undefined) item.range = lineRange(outcome.line - 1);
    return item;
  }

  /** These are all tests of a project; what else the tree has of it is gone. */
  keep(root: string, ids: Iterable<string>): void {
    const there = new Set([...ids].flatMap((id) => stepsOf(id).map((step) => step.id)));
    this.prune(this.item(root, ''), (id) => there.has(id));
  }

  private collected(result: RunTestsResult): void {
    const { root, notRun } = result;
    for (const id of notRun) this.item(root, id);
    const all = foundBy(result);
    if (all !== undefined) this.keep(root, all);
  }

  /** A file or a folder; editors that write one anew delete it first. */
  private deleted(path: string): void {
    if (existsSync(path)) return;
    for (const [root, item] of this.controller.items) {
      if (isBelow([path], root) && workspace.getWorkspaceFolder(Uri.file(root))?.uri.fsPath !== root)
        this.controller.items.delete(root);
      else if (isBelow([root], path)) {
        const gone = relative(root, path).replaceAll('\\', '/');
        if (gone !== '') this.prune(item, (id) => !isWithin(gone, id));
      }
    }
  }

  private profiles(): TestRunProfile {
    const { controller } = this;
    const of = (kind: Kind) => (request: TestRunRequest, token: CancellationToken) =>
      runTests(this.sidecar, this, request, kind, token);
    const { Run, Coverage } = TestRunProfileKind;
    const covering = controller.createRunProfile(l10n.t('Coverage'), Coverage, of({ coverage: true }), true);
    covering.loadDetailedCoverage = async (_, coverage) => detailsOf(coverage);
    return controller.createRunProfile(l10n.t('Run'), Run, of({ coverage: false }), true);
  }

  private showFolders(): void {
    const folders = (workspace.workspaceFolders ?? []).map((it) => it.uri.fsPath);
    for (const folder of folders) this.rootItem(folder);
    const gone = [...this.controller.items].filter(([, it]) => !isBelow(folders, it.uri?.fsPath));
    for (const [id] of gone) this.controller.items.delete(id);
  }

  private rootItem(root: string): TestItem {
    const known = this.controller.items.get(root);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(root, nameOf(root), Uri.file(root));
    made.canResolveChildren = true;
    this.targets.set(made, { root, id: '' });
    this.controller.items.add(made);
    return made;
  }

  private child(parent: TestItem, target: Target, label: string, uri: Uri | undefined): TestItem {
    const id = itemId(target);
    const known = parent.children.get(id);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(id, label, uri);
    made.sortText = label;
    this.targets.set(made, target);
    parent.children.add(made);
    return made;
  }

  /** The tests of a document that is open, where they stand now. */
  private found({ document, lenses }: GivenLenses): void {
    const path = document.uri.fsPath.replaceAll('\\', '/');
    const found = testsOf(path, lensesOf(lenses));
    for (const test of found) {
      const item = this.item(test.root, test.id);
      item.range = new Range(test.line, 0, test.endLine, 0);
    }
    const there = new Set(found.flatMap((it) => stepsOf(it.id).map((step) => step.id)));
    for (const [root, item] of this.controller.items) {
      const file = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
      const known = file === undefined ? undefined : item.children.get(itemId({ root, id: file }));
      // A file does not say which parameters its tests have.
      if (known !== undefined) this.prune(known, (id) => id.includes('[') || there.has(id));
    }
  }

  /** Forgets what is gone, with all that is below it. */
  private prune(item: TestItem, isThere: (id: string) => boolean): void {
    for (const [key, child] of item.children) {
      const target = this.targets.get(child);
      if (target === undefined) continue;
      if (isThere(target.id)) this.prune(child, isThere);
      else item.children.delete(key);
    }
  }

  /** Asks each project for all its tests; none is run, but their files are, so that a folder has to be trusted. */
  private async collect(items: readonly TestItem[], token?: CancellationToken): Promise<void> {
    if (!workspace.isTrusted) return;
    for (const item of items) {
      const root = this.targets.get(item)?.root;
      if (root === undefined) continue;
      item.busy = true;
      const live = new Live();
      let listening: Disposable | undefined;
      try {
        const own = await nestedIn(this.sidecar, root);
        for (const it of own) this.rootItem(it);
        const params = {
          root,
          arguments: ['--collect-only', ...leavingOut(root, own)],
          ...surroundings(root),
        };
        // So that nobody who runs tests meanwhile takes this job for theirs.
        listening = this.sidecar.onEvent((it) => live.hear(it));
        const result = await this.sidecar.request('trellis/runTests', params, token);
        if ('tests' in result) this.collected(result);
      } catch (error) {
        void complain(l10n.t('The tests of {0} were not collected', item.label), error);
      } finally {
        listening?.dispose();
        live.dispose();
        item.busy = false;
      }
    }
  }
}

/** Of an item below a folder's. */
function itemId({ root, id }: Target): string {
  return `${root}\n${id}`;
}

function nameOf(root: string): string {
  const folder = workspace.getWorkspaceFolder(Uri.file(root));
  return folder?.uri.fsPath === root ? folder.name : workspace.asRelativePath(root);
}

/** Where tests of a project run, as its settings say, and what they may have. */
export function surroundings(root: string): Pick<RunTestsParams, 'sandbox' | 'allow'> {
  const folder = Uri.file(root);
  const sandbox = workspace.getConfiguration('trellis', folder).get<Choice>('sandbox', 'auto');
  const allow = allowed(own(folder));
  return allow === undefined ? { sandbox } : { sandbox, allow };
}

/** From 0. */
export function lineRange(line: number): Range {
  return new Range(line, 0, line, 0);
}
