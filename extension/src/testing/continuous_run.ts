// Continuous runs: the tests that a saved file affects run at once, until the person switches the run off.
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import {
  type CancellationToken,
  CancellationTokenSource,
  Disposable,
  l10n,
  type TestRunProfile,
  TestRunRequest,
  type TextDocument,
  workspace,
} from 'vscode';
import type { AffectedTestsResult } from '../protocol';
import type { Client } from '../sidecar/client';
import { reportError } from '../sidecar/report_error';
import { affectedWithin, introOf, waitingText } from './affected';
import { terminalLines } from './apply_outcome';
import { type Batch, ChangeQueue } from './change_queue';
import { mayBeRead } from './outdated';
import { runTests } from './run';
import type { TestView } from './test_view';
import { type ProjectTests, testsByProject } from './tests_by_project';

/** Milliseconds in which changes are collected: one command may save several files. */
const DELAY_MS = 30;

/** Times that a file which changes while tests run starts a run: another program may write it all the time. */
const RUNS_OF_NOISE = 2;

/** Runs affected tests after each change; resolves when the token is cancelled. Never rejects. */
export async function runContinuously(
  sidecar: Client,
  testing: TestView,
  request: TestRunRequest,
  token: CancellationToken,
): Promise<void> {
  const runs = new Map<string, ContinuousRun>();
  const begin = (it: ProjectTests) => {
    runs.set(it.root, new ContinuousRun(sidecar, testing, request.profile, it, token));
    if (it.ids.length === 0) testing.followed.add(it.root);
  };
  testsByProject(testing.tree, request).forEach(begin);
  const listening = followChanges(testing, runs, (root) => {
    if (request.include === undefined) begin({ root, ids: [] });
  });
  await new Promise<void>((resolve) => {
    if (token.isCancellationRequested) resolve();
    else token.onCancellationRequested(() => resolve());
  });
  for (const [root, run] of runs) {
    testing.followed.delete(root);
    run.dispose();
  }
  listening.dispose();
}

/** @param begin begins to follow a project that was opened after the run began, if the run is one of all projects */
function followChanges(
  testing: TestView,
  runs: ReadonlyMap<string, ContinuousRun>,
  begin: (root: string) => void,
): Disposable {
  const changed = ({ fsPath }: { fsPath: string }, isSaved: boolean) => {
    const root = testing.tree.projectOf(fsPath);
    if (root === undefined || testing.tree.isInternal(root)) return;
    if (!runs.has(root)) begin(root);
    runs.get(root)?.changed(fsPath, isSaved);
  };
  const watcher = workspace.createFileSystemWatcher('**/*');
  const onEvent = (uri: { fsPath: string }) => changed(uri, false);
  return Disposable.from(
    watcher,
    watcher.onDidCreate(onEvent),
    watcher.onDidChange(onEvent),
    watcher.onDidDelete(onEvent),
    // The editor's watchers have a delay, and do not work on some disks.
    workspace.onDidSaveTextDocument(({ uri }: TextDocument) => changed(uri, true)),
  );
}

/** The continuous run of a project, or of some of its tests. */
class ContinuousRun implements Disposable {
  private readonly queue = new ChangeQueue();
  /** Times of the last changes that were met, by path. */
  private readonly seen = new Map<string, number>();
  /** Numbers of changes while tests ran, by path. */
  private readonly noise = new Map<string, number>();
  /** Time of the last batch, in milliseconds of Unix time. */
  private last = { began: 0, ended: 0 };
  private timer: NodeJS.Timeout | undefined;
  /** Cancels the present batch. */
  private current: CancellationTokenSource | undefined;
  /** Tests with dimmed results, since they wait for the correction of a syntax error. */
  private waiting: readonly string[] = [];
  /** Number of the newest batch; an older one has been superseded. */
  private newest = 0;

  constructor(
    private readonly sidecar: Client,
    private readonly testing: TestView,
    private readonly profile: TestRunProfile | undefined,
    private readonly tests: ProjectTests,
    private readonly token: CancellationToken,
  ) {
    this.queue.addAll();
    this.timer = setTimeout(() => this.next(), 0);
  }

  get root(): string {
    return this.tests.root;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.current?.cancel();
    this.describe('');
  }

  /** Shows a text beside the project. */
  private describe(text: string): void {
    const item = this.testing.tree.find(this.root, '');
    if (item !== undefined) item.description = text;
  }

  /**
   * Takes in the change of a file.
   * @param isSaved whether the person saved it in the editor
   */
  changed(path: string, isSaved: boolean): void {
    const name = relative(this.root, path).replaceAll('\\', '/');
    if (!mayBeRead(name)) return;
    const time = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1;
    if (this.seen.get(path) === time) return;
    this.seen.set(path, time);
    if (isSaved) this.noise.delete(name);
    if (isSaved || !this.wasRunningAt(time)) this.queue.add(name);
    else this.addNoise(name);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.next(), DELAY_MS);
  }

  /** Returns whether tests ran when a file changed. */
  private wasRunningAt(time: number): boolean {
    const { began, ended } = this.last;
    return this.current !== undefined || (time >= began && time <= ended);
  }

  /** Takes in a change while tests run, which the person may not have made. */
  private addNoise(name: string): void {
    const times = (this.noise.get(name) ?? 0) + 1;
    this.noise.set(name, times);
    if (times > RUNS_OF_NOISE) this.queue.addQuietly(name);
    else if (name.endsWith('.py')) this.queue.add(name);
    else this.queue.addLater(name);
  }

  /** Runs the next batch; a running one is cancelled, and its tests run later. */
  private next(): void {
    if (this.current !== undefined && !this.queue.isUrgent) return;
    this.current?.cancel();
    const batch = this.queue.take();
    if (batch === undefined || this.token.isCancellationRequested) return;
    this.newest += 1;
    void this.runBatch(batch, this.newest);
  }

  private async runBatch(batch: Batch, number: number): Promise<void> {
    const source = new CancellationTokenSource();
    this.current = source;
    const began = Date.now();
    try {
      await this.runAffected(batch, source.token);
    } catch (error) {
      void reportError(l10n.t('Could not find the tests that a change affects'), error);
    } finally {
      source.dispose();
    }
    // A run that failed is not repeated: the next change is.
    if (source.token.isCancellationRequested) this.queue.putBack(batch);
    if (number === this.newest) {
      this.current = undefined;
      this.last = { began, ended: Date.now() };
    }
    if (this.current === undefined) this.next();
  }

  private async runAffected(batch: Batch, token: CancellationToken): Promise<void> {
    const { root, ids } = this.tests;
    const paths = batch === 'all' ? [] : [...batch];
    const affected = await this.sidecar.request('trellis/affectedTests', { root, paths }, token);
    if (token.isCancellationRequested) return;
    const held = affectedWithin(ids, affected.held);
    const found = affectedWithin(ids, [...affected.tests, ...this.released(affected, held)]);
    const intro = [introOf(affected, found.length, l10n.t), waitingText(affected, l10n.t)];
    const text = intro.filter((it) => it !== undefined).join('\n');
    if (found.length === 0) {
      if (affected.broken.length > 0) this.say(affected, text);
      this.waiting = held;
      return;
    }
    const items = found.map((id) => this.testing.tree.item(affected.root, id));
    const request = new TestRunRequest(items, undefined, this.profile, true);
    const options = { coverage: false, recordsExecution: true, intro: text };
    await runTests(this.sidecar, this.testing, request, options, token);
    // Tests of a superseded run still wait.
    if (!token.isCancellationRequested) this.waiting = held;
  }

  /** Dims the tests that wait for a correction; returns those that do not wait any more, and are still there. */
  private released({ root, broken }: AffectedTestsResult, held: readonly string[]): readonly string[] {
    const { tree, controller } = this.testing;
    const released = this.waiting.filter((it) => !held.includes(it) && tree.find(root, it) !== undefined);
    const newlyHeld = held.filter((it) => !this.waiting.includes(it));
    this.waiting = [...this.waiting, ...newlyHeld];
    if (newlyHeld.length > 0) controller.invalidateTestResults(newlyHeld.map((id) => tree.item(root, id)));
    const [first] = broken;
    this.describe(first === undefined ? '' : l10n.t('syntax error in {0}, line {1}', first.path, first.line));
    return released;
  }

  /** Shows a text as the output of a run without tests. */
  private say(affected: AffectedTestsResult, text: string): void {
    const request = new TestRunRequest(
      [this.testing.tree.item(affected.root, '')],
      undefined,
      this.profile,
      true,
    );
    const run = this.testing.controller.createTestRun(request, l10n.t('Continuous run'), false);
    run.appendOutput(terminalLines(text));
    run.end();
  }
}
