// The editor's Testing view: its tree is made of what the sidecar finds, its runs are the sidecar's.
import {
  type CancellationToken,
  type Disposable,
  l10n,
  type TestController,
  type TestItem,
  type TestRunProfile,
  TestRunProfileKind,
  type TestRunRequest,
  tests,
  workspace,
} from 'vscode';
import { means } from '../means/means';
import type { RunTestsResult, Event as TrellisEvent } from '../protocol';
import type { Client } from '../sidecar/client';
import { requestJob } from '../sidecar/job_request';
import { reportError } from '../sidecar/report_error';
import { detailsOf } from './coverage';
import { leavingOut, nestedIn } from './nested';
import { brokenIn, foundBy } from './outcomes';
import { runTests } from './run';
import type { TestView } from './test_view';
import { TestTree } from './tree';
import type { RunOptions } from './types';

/** The tree, and the profiles by which it runs. */
export class Testing implements TestView {
  readonly controller: TestController;
  readonly tree: TestTree;
  readonly profile: TestRunProfile;

  constructor(private readonly sidecar: Client) {
    this.controller = tests.createTestController('trellis', 'Trellis');
    this.tree = new TestTree(this.controller);
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) this.showFolders();
      else await this.collect([item]);
    };
    this.controller.refreshHandler = (token) => this.collect(this.tree.roots, token);
    this.profile = this.profiles();
  }

  begin(): Disposable[] {
    this.showFolders();
    const deletions = workspace.createFileSystemWatcher('**/*', true, true, false);
    return [
      this.controller,
      deletions,
      deletions.onDidDelete(({ fsPath }) => this.tree.deleted(fsPath)),
      this.sidecar.onLenses((it) => this.tree.found(it)),
      workspace.onDidChangeWorkspaceFolders(() => this.showFolders()),
      ...this.followTrust(),
    ];
  }

  /** Shows the open folders; of one that is not trusted, why it has no tests. */
  private showFolders(): void {
    this.tree.showFolders();
    const why = workspace.isTrusted ? undefined : l10n.t('Trust this folder to find its tests');
    for (const it of this.tree.roots) it.error = why;
  }

  /** Collects the tests once the folder is trusted and the sidecar, which starts again then, answers. */
  private followTrust(): Disposable[] {
    let isNew = false;
    return [
      workspace.onDidGrantWorkspaceTrust(() => {
        isNew = true;
        this.showFolders();
      }),
      this.sidecar.onState((state) => {
        if (state !== 'running' || !isNew) return;
        isNew = false;
        void this.collect(this.tree.roots);
      }),
    ];
  }

  private collected(result: RunTestsResult): void {
    const { root } = result;
    const notRun = result.notRun.filter((id) => !this.tree.isInternal(root, id));
    for (const id of notRun) this.tree.item(root, id);
    const all = foundBy(result);
    if (all !== undefined) this.tree.keep(root, all);
    const broken = brokenIn(result, []).filter(({ id }) => !this.tree.isInternal(root, id));
    this.tree.errors(root, new Map(broken.map(({ id, failure }) => [id, failure.message])));
  }

  private profiles(): TestRunProfile {
    const { controller } = this;
    const of = (options: RunOptions) => (request: TestRunRequest, token: CancellationToken) =>
      runTests(this.sidecar, this, request, options, token);
    const { Run, Coverage } = TestRunProfileKind;
    const covering = controller.createRunProfile(l10n.t('Coverage'), Coverage, of({ coverage: true }), true);
    covering.loadDetailedCoverage = async (_, coverage) => detailsOf(coverage);
    return controller.createRunProfile(l10n.t('Run'), Run, of({ coverage: false }), true);
  }

  /** Asks each project for all its tests; none is run, but their files are, so that a folder has to be trusted. */
  private async collect(items: readonly TestItem[], token?: CancellationToken): Promise<void> {
    if (!workspace.isTrusted) return;
    for (const item of items) {
      const root = this.tree.target(item)?.root;
      if (root === undefined) continue;
      item.busy = true;
      const onEvent = (event: TrellisEvent) => {
        if (event.type === 'log') item.description = event.message.trim();
      };
      try {
        const own = await nestedIn(this.sidecar, root);
        for (const it of own) if (!this.tree.isInternal(it)) this.tree.root(it);
        const params = {
          root,
          arguments: ['--collect-only', ...leavingOut(root, own)],
          ...(await means('trellis/runTests', root)),
        };
        const result = await requestJob(this.sidecar, 'trellis/runTests', params, { onEvent }, token);
        if (result !== undefined) this.collected(result);
      } catch (error) {
        void reportError(l10n.t('Could not find the tests in {0}', item.label), error);
      } finally {
        item.busy = false;
        item.description = '';
      }
    }
  }
}
