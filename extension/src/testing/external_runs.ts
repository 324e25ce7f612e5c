// Tests that run as part of other jobs, in another window, or on the command line, shown in the Testing view as well.
import type { Disposable, TestRun } from 'vscode';
import { l10n, TestRunRequest } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { applyOutcome } from './apply_outcome';
import { type Outcome, outcomeOfEvent, outcomesOfResults } from './outcomes';
import type { TestView } from './test_view';

export function showExternalRuns(sidecar: Client, jobStore: JobStore, testing: TestView): Disposable[] {
  const runs = new Map<string, TestRun>();
  const timers = new Map<string, NodeJS.Timeout>();
  const end = (job: string) => {
    clearTimeout(timers.get(job));
    runs.get(job)?.end();
    if (runs.delete(job)) testing.tree.dim();
  };
  const runOf = (job: string) => {
    const made =
      runs.get(job) ?? testing.controller.createTestRun(new TestRunRequest(), titleOf(jobStore, job), false);
    runs.set(job, made);
    // A run ends after a pause: a job may take hours, and other results in between are newer than its first tests.
    clearTimeout(timers.get(job));
    timers.set(
      job,
      setTimeout(() => end(job), IDLE_MS),
    );
    return made;
  };
  return [
    sidecar.onEvent((event) => {
      if (event.type === 'results') showExternalResults(testing, outcomesOfResults(event));
      // Tests of a draft are not part of the project yet.
      if (
        event.type !== 'test' ||
        event.draft ||
        OWN_METHODS.includes(jobStore.jobs.get(event.job)?.method ?? '')
      )
        return;
      const outcome = outcomeOfEvent(event);
      if (!isShown(testing, outcome)) return;
      applyOutcome(runOf(event.job), testing.tree.place(outcome, Date.now()), outcome);
    }),
    jobStore.onEnd((job) => end(job.id)),
    sidecar.onState((state) => {
      if (state !== 'running') for (const job of [...runs.keys()]) end(job);
    }),
  ];
}

/** Milliseconds without a test after which a job's run ends. */
const IDLE_MS = 1_000;

/** Methods whose callers show the tests themselves. */
const OWN_METHODS: readonly string[] = ['runTests', 'generateTests'];

/** Shows results of other processes; those of projects outside the workspace are ignored. */
function showExternalResults(testing: TestView, outcomes: readonly Outcome[]): void {
  const shown = outcomes.filter((it) => isShown(testing, it));
  if (shown.length === 0) return;
  const run = testing.controller.createTestRun(
    new TestRunRequest(),
    l10n.t('Run outside this window'),
    false,
  );
  for (const it of shown) applyOutcome(run, testing.tree.place(it, Date.now()), it);
  run.end();
  testing.tree.dim();
}

function isShown({ tree }: TestView, { root, id }: Outcome): boolean {
  return tree.isListed(root) && !tree.isInternal(root, id);
}

function titleOf(jobStore: JobStore, job: string): string | undefined {
  return jobStore.jobs.get(job)?.title;
}
