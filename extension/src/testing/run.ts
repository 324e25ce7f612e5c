// One run of the Testing view: asked of the sidecar, shown as it goes.
import type { CancellationToken, TestItem, TestRun, TestRunRequest } from 'vscode';
import { l10n, Uri } from 'vscode';
import { ranWith } from '../means/interpreter';
import { means } from '../means/means';
import type { Event as TrellisEvent } from '../protocol';
import type { Client } from '../sidecar/client';
import { requestJob } from '../sidecar/job_request';
import { reportError } from '../sidecar/report_error';
import { showCoverage } from './coverage';
import { Live } from './live';
import { leavingOut, nestedIn } from './nested';
import { allOf, type Outcome, ofResult } from './outcomes';
import { type Part, partsOf } from './parts';
import { lines, showBroken, showOutcome } from './show';
import type { TestView } from './test_view';
import type { RunOptions } from './types';

/** Runs what is asked for, one project after the other. Rejects nothing: what goes wrong is said. */
export async function runTests(
  sidecar: Client,
  testing: TestView,
  request: TestRunRequest,
  options: RunOptions,
  token: CancellationToken,
): Promise<void> {
  const run = testing.controller.createTestRun(request);
  const stopping = run.token.onCancellationRequested(() => run.end());
  const left = new Set(request.exclude);
  for (const item of request.include ?? []) if (isNamed(testing, item)) enqueue(run, item, left);
  try {
    for (const part of partsOf(testing.tree, request))
      await runPart(sidecar, testing, run, part, options, token);
  } catch (error) {
    // Nothing waits for a test any more, least of all for whoever reads this.
    void reportError(l10n.t('Could not run the tests'), error);
  } finally {
    stopping.dispose();
    run.end();
    // Somebody may have changed the code meanwhile.
    testing.tree.dim();
  }
}

/** Whether an item is not a whole project: which of its tests a run comes to is not known before. */
function isNamed(testing: TestView, item: TestItem): boolean {
  return testing.tree.target(item)?.id !== '';
}

/** Shows tests that have not run yet as waiting; what is never run of them loses its result. */
function enqueue(run: TestRun, item: TestItem, left: ReadonlySet<TestItem>): void {
  if (left.has(item)) return;
  if (item.children.size === 0) run.enqueued(item);
  for (const [, child] of item.children) enqueue(run, child, left);
}

async function runPart(
  sidecar: Client,
  testing: TestView,
  run: TestRun,
  { root, ids }: Part,
  options: RunOptions,
  token: CancellationToken,
): Promise<void> {
  const ignored = ids.length > 0 ? [] : leavingOut(root, await nestedIn(sidecar, root));
  const params = {
    root,
    paths: [...ids],
    coverage: options.coverage,
    ...(await means('trellis/runTests', root)),
    ...(ignored.length > 0 ? { arguments: ignored } : {}),
  };
  const began = Date.now();
  const show = (it: Outcome) => {
    if (!testing.tree.isInternal(it.root, it.id)) showOutcome(run, testing.tree.place(it, began), it);
  };
  const live = new Live((line) => run.appendOutput(lines(line)));
  const onEvent = (event: TrellisEvent) => {
    const outcome = live.hear(event);
    if (outcome !== undefined) show(outcome);
  };
  let results: readonly Outcome[] = [];
  try {
    const result = await requestJob(sidecar, 'trellis/runTests', params, { onEvent }, token);
    if (result === undefined) return;
    results = ofResult(result);
    const all = ids.length > 0 ? undefined : allOf(result);
    if (all !== undefined) testing.tree.keep(root, all);
    showBroken(run, testing.tree, result, ids);
    if (result.coverage) showCoverage(run, result.root, result.coverage);
    void ranWith(result.interpreter, Uri.file(root));
  } finally {
    // Where the sidecar ended amid the run, what it told before is all that anybody will know.
    for (const it of live.rest(results)) show(it);
  }
}
