// The editor's Testing view, filled with tests that the sidecar finds.
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
import type { RunTestsResult, Event as TrellisEvent } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import type { Client } from '../sidecar/client';
import { requestJob } from '../sidecar/job_request';
import { reportError } from '../sidecar/report_error';
import { runContinuously } from './continuous_run';
import { coverageDetails } from './coverage';
import { TestDiscovery } from './discovery';
import { concernsListing } from './listed_folders';
import { ignoreOptions, nestedRuns } from './nested_runs';
import { collectedIds, collectionErrorsOf } from './outcomes';
import { runTests } from './run';
import type { TestView } from './test_view';
import { TestTree } from './tree';
import type { RunOptions } from './types';

/** The view's tree, and its run profiles. */
export class TestingController implements TestView {
  readonly controller: TestController;
  readonly tree: TestTree;
  readonly profile: TestRunProfile;
  readonly followed = new Set<string>();
  private readonly discovery: TestDiscovery;

  constructor(private readonly sidecar: Client) {
    this.controller = tests.createTestController('trellis', 'Trellis');
    this.tree = new TestTree(this.controller);
    this.discovery = new TestDiscovery(sidecar, this.tree);
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) this.showFolders();
      else await this.resolve(item);
    };
    this.controller.refreshHandler = (token) => this.refresh(token);
    this.profile = this.profiles();
  }

  begin(): Disposable[] {
    this.showFolders();
    const deletions = workspace.createFileSystemWatcher('**/*', true, true, false);
    return [
      this.controller,
      deletions,
      deletions.onDidDelete(({ fsPath }) => this.tree.pathDeleted(fsPath)),
      ...this.discovery.begin(),
      workspace.onDidChangeWorkspaceFolders(() => this.listAnew()),
      workspace.onDidChangeConfiguration((it) => {
        if (concernsListing(it)) this.listAnew();
      }),
      workspace.onDidGrantWorkspaceTrust(() => this.showFolders()),
    ];
  }

  private listAnew(): void {
    this.showFolders();
    this.discovery.findAll();
  }

  /** Shows the listed folders; a folder without trust shows that its tests do not run. */
  private showFolders(): void {
    this.tree.showFolders();
    const why = workspace.isTrusted ? undefined : l10n.t('Trust this folder to run its tests');
    for (const it of this.tree.roots) it.error = why;
  }

  /** Finds the tests of an opened project. If its sources show none, the framework may know some. */
  private async resolve(item: TestItem): Promise<void> {
    const root = this.tree.target(item)?.root ?? '';
    if ((await this.discovery.find(root)) === 0) await this.collect([item]);
  }

  private async refresh(token: CancellationToken): Promise<void> {
    const items = this.tree.roots;
    await Promise.all(items.map((it) => this.discovery.find(it.id)));
    await this.collect(items, token);
  }

  private applyCollected(result: RunTestsResult): void {
    const { root } = result;
    const notRun = result.notRun.filter((id) => !this.tree.isInternal(root, id));
    for (const id of notRun) this.tree.item(root, id);
    const all = collectedIds(result);
    const broken = collectionErrorsOf(result, []).filter(({ id }) => !this.tree.isInternal(root, id));
    if (all !== undefined) this.tree.retain(root, all, new Set(broken.map((it) => it.id)));
    this.tree.setErrors(root, new Map(broken.map(({ id, failure }) => [id, failure.message])));
  }

  private profiles(): TestRunProfile {
    const { controller } = this;
    const of = (options: RunOptions) => async (request: TestRunRequest, token: CancellationToken) => {
      if (request.continuous) await runContinuously(this.sidecar, this, request, token);
      else await runTests(this.sidecar, this, request, options, token);
    };
    const { Run, Coverage } = TestRunProfileKind;
    const covering = controller.createRunProfile(l10n.t('Coverage'), Coverage, of({ coverage: true }), true);
    covering.loadDetailedCoverage = async (_, coverage) => coverageDetails(coverage);
    return controller.createRunProfile(l10n.t('Run'), Run, of({ coverage: false }), true, undefined, true);
  }

  /**
   * Collects the tests of projects. Their files are executed, though no test is, so that a folder has to be trusted.
   */
  private async collect(items: readonly TestItem[], token?: CancellationToken): Promise<void> {
    if (!workspace.isTrusted) return;
    for (const item of items) {
      const root = this.tree.target(item)?.root;
      if (root === undefined || !this.discovery.canCollect(root)) continue;
      item.busy = true;
      const onEvent = (event: TrellisEvent) => {
        if (event.type === 'log') item.description = event.message.trim();
      };
      try {
        const own = await nestedRuns(this.sidecar, root);
        for (const it of own) if (!this.tree.isInternal(it)) this.tree.root(it);
        const params = {
          root,
          arguments: ['--collect-only', ...ignoreOptions(root, own)],
          ...(await requestSettings('trellis/runTests', root)),
        };
        const result = await requestJob(this.sidecar, 'trellis/runTests', params, { onEvent }, token);
        if (result !== undefined) this.applyCollected(result);
      } catch (error) {
        void reportError(l10n.t('Could not find the tests in {0}', item.label), error);
      } finally {
        item.busy = false;
        item.description = '';
      }
    }
  }
}
