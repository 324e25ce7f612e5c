// Tests that run as part of other work, such as the suite at the end of a run: shown in the Testing view as well.
import type { Disposable, TestRun } from 'vscode';
import { TestRunRequest } from 'vscode';
import type { Board } from '../generation/board';
import type { Client } from '../sidecar/client';
import type { Testing } from './controller';
import { ofEvent } from './outcomes';
import { showOutcome } from './show';

export function showOthers(sidecar: Client, board: Board, testing: Testing): Disposable[] {
  const runs = new Map<string, TestRun>();
  const end = (job: string) => {
    runs.get(job)?.end();
    runs.delete(job);
  };
  const runOf = (job: string) => {
    const made =
      runs.get(job) ?? testing.controller.createTestRun(new TestRunRequest(), title(board, job), false);
    runs.set(job, made);
    return made;
  };
  return [
    sidecar.onEvent((event) => {
      // Jobs that run tests and nothing else are begun by the view itself.
      if (event.type !== 'test' || board.jobs.get(event.job)?.method === 'runTests') return;
      const outcome = ofEvent(event);
      if (testing.tree.isInternal(outcome.root, outcome.id)) return;
      showOutcome(runOf(event.job), testing.tree.place(outcome, Date.now()), outcome);
    }),
    board.onEnd((job) => end(job.id)),
    sidecar.onState((state) => {
      if (state !== 'running') for (const job of [...runs.keys()]) end(job);
    }),
  ];
}

function title(board: Board, job: string): string | undefined {
  return board.jobs.get(job)?.title;
}
