// Tests that run as part of other work, such as the suite at the end of a run, in another window, or on the command line:
// shown in the Testing view as well.
import type { Disposable, TestRun } from 'vscode';
import { l10n, TestRunRequest } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { type Outcome, ofEvent, ofResults } from './outcomes';
import { showOutcome } from './show';
import type { TestView } from './test_view';

export function showOthers(sidecar: Client, jobStore: JobStore, testing: TestView): Disposable[] {
  const runs = new Map<string, TestRun>();
  const timers = new Map<string, NodeJS.Timeout>();
  const end = (job: string) => {
    clearTimeout(timers.get(job));
    runs.get(job)?.end();
    if (runs.delete(job)) testing.tree.dim();
  };
  const runOf = (job: string) => {
    const made =
      runs.get(job) ?? testing.controller.createTestRun(new TestRunRequest(), title(jobStore, job), false);
    runs.set(job, made);
    // A job may go on for hours, and what runs in between is newer than its first tests.
    clearTimeout(timers.get(job));
    timers.set(
      job,
      setTimeout(() => end(job), SILENCE),
    );
    return made;
  };
  return [
    sidecar.onEvent((event) => {
      if (event.type === 'results') showForeign(testing, ofResults(event));
      // A draft's tests are not in the project yet.
      if (event.type !== 'test' || event.draft || OWN.includes(jobStore.jobs.get(event.job)?.method ?? ''))
        return;
      const outcome = ofEvent(event);
      if (testing.tree.isInternal(outcome.root, outcome.id)) return;
      showOutcome(runOf(event.job), testing.tree.place(outcome, Date.now()), outcome);
    }),
    jobStore.onEnd((job) => end(job.id)),
    sidecar.onState((state) => {
      if (state !== 'running') for (const job of [...runs.keys()]) end(job);
    }),
  ];
}

/** Milliseconds without a test after which a run of a job is over. */
const SILENCE = 1_000;

/** Methods whose tests are shown by who asks for them. */
const OWN: readonly string[] = ['runTests', 'generateTests'];

/** What others have run; of a project that has no place in this window nothing. */
function showForeign(testing: TestView, outcomes: readonly Outcome[]): void {
  const shown = outcomes.filter(
    (it) => testing.tree.isOpen(it.root) && !testing.tree.isInternal(it.root, it.id),
  );
  if (shown.length === 0) return;
  const run = testing.controller.createTestRun(
    new TestRunRequest(),
    l10n.t('Run outside this window'),
    false,
  );
  for (const it of shown) showOutcome(run, testing.tree.place(it, Date.now()), it);
  run.end();
  testing.tree.dim();
}

function title(jobStore: JobStore, job: string): string | undefined {
  return jobStore.jobs.get(job)?.title;
}
