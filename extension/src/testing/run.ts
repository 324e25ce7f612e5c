// Runs of the Testing view: requested from the sidecar, shown while they go on.
import {
  type CancellationToken,
  CancellationTokenSource,
  Disposable,
  l10n,
  type TestItem,
  type TestRun,
  type TestRunRequest,
  Uri,
} from 'vscode';
import type { Event as TrellisEvent } from '../protocol';
import { reportInterpreter } from '../settings/interpreter';
import { requestSettings } from '../settings/request_settings';
import type { Client } from '../sidecar/client';
import { requestJob } from '../sidecar/job_request';
import { reportError } from '../sidecar/report_error';
import { applyCollectionErrors, applyDetails, applyOutcome, terminalLines } from './apply_outcome';
import { showCoverage } from './coverage';
import { LiveRun } from './live_run';
import { ignoreOptions, nestedRuns } from './nested_runs';
import { collectionErrorsOf, completeIds, type Outcome, outcomesOfRun } from './outcomes';
import { runSummary } from './test_output';
import type { TestView } from './test_view';
import { type ProjectTests, testsByProject } from './tests_by_project';
import type { TestTree } from './tree';
import type { RunOptions } from './types';

/** Runs the requested tests, one project after the other. Never rejects: errors are reported. */
export async function runTests(
  sidecar: Client,
  testing: TestView,
  request: TestRunRequest,
  options: RunOptions,
  token: CancellationToken,
): Promise<void> {
  const run = testing.controller.createTestRun(request);
  // The editor cancels the one or the other.
  const source = new CancellationTokenSource();
  const stopping = Disposable.from(
    source,
    token.onCancellationRequested(() => source.cancel()),
    run.token.onCancellationRequested(() => {
      source.cancel();
      run.end();
    }),
  );
  if (token.isCancellationRequested) source.cancel();
  if (options.intro !== undefined) run.appendOutput(terminalLines(options.intro));
  const excluded = new Set(request.exclude);
  // In a continuous run a test keeps its result until it has the next one.
  const waiting = request.continuous ? [] : (request.include ?? []);
  for (const item of waiting) if (isPartOfProject(testing, item)) enqueue(run, testing.tree, item, excluded);
  try {
    for (const tests of testsByProject(testing.tree, request))
      await runProject(sidecar, testing, run, tests, options, source.token);
  } catch (error) {
    // Not awaited: the run must end even if nobody reads the message.
    void reportError(l10n.t('Could not run the tests'), error);
  } finally {
    stopping.dispose();
    run.end();
    // The code may have changed in the meantime.
    testing.tree.dim();
  }
}

/** Returns whether an item is less than a whole project, whose tests are not known in advance. */
function isPartOfProject(testing: TestView, item: TestItem): boolean {
  return testing.tree.target(item)?.id !== '';
}

/** Marks tests as waiting; those that do not run lose their result. */
function enqueue(run: TestRun, tree: TestTree, item: TestItem, excluded: ReadonlySet<TestItem>): void {
  if (excluded.has(item)) return;
  // A test whose cases become rows while it runs would wait for ever.
  if (item.children.size === 0 && !tree.awaitsCases(item)) run.enqueued(item);
  for (const [, child] of item.children) enqueue(run, tree, child, excluded);
}

async function runProject(
  sidecar: Client,
  testing: TestView,
  run: TestRun,
  { root, ids }: ProjectTests,
  options: RunOptions,
  token: CancellationToken,
): Promise<void> {
  const ignored = ids.length > 0 ? [] : ignoreOptions(root, await nestedRuns(sidecar, root));
  const params = {
    root,
    paths: [...ids],
    coverage: options.coverage,
    ...(options.recordsExecution ? { recordExecution: true } : {}),
    ...(await requestSettings('trellis/runTests', root)),
    ...(ignored.length > 0 ? { arguments: ignored } : {}),
  };
  const began = Date.now();
  const show = (it: Outcome) => {
    if (!testing.tree.isInternal(it.root, it.id)) applyOutcome(run, testing.tree.place(it, began), it);
  };
  const showDetails = (it: Outcome) => {
    const item = testing.tree.find(it.root, it.id);
    if (item !== undefined) applyDetails(run, testing.tree, item, it);
  };
  const liveRun = new LiveRun((line) => run.appendOutput(terminalLines(line)));
  const onEvent = (event: TrellisEvent) => {
    const outcome = liveRun.handleEvent(event);
    if (outcome !== undefined) show(outcome);
  };
  let results: readonly Outcome[] = [];
  try {
    const result = await requestJob(sidecar, 'trellis/runTests', params, { onEvent }, token);
    if (result === undefined) return;
    results = outcomesOfRun(result);
    const all = ids.length > 0 ? undefined : completeIds(result);
    const broken = new Set(collectionErrorsOf(result, ids).map((it) => it.id));
    if (all !== undefined) testing.tree.retain(root, all, broken);
    applyCollectionErrors(run, testing.tree, result, ids);
    run.appendOutput(terminalLines(runSummary(results, result.durationMs)));
    if (result.coverage) showCoverage(run, result.root, result.coverage);
    void reportInterpreter(result.interpreter, Uri.file(root));
  } finally {
    // If the sidecar ended during the run, the events until then are all there is.
    for (const it of liveRun.remaining(results)) show(it);
    for (const it of results) showDetails(it);
  }
}
