// The run that the panel shows.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { JobStore } from '../../src/run/job_store';
import { type RunChange, RunStore } from '../../src/run/run_store';
import { asClient, Sidecar, settled } from './room_of_tests';
import { files } from './vscode';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Folders of runs, and a sidecar that knows them for ever. */
function grown(count: number): { sidecar: Sidecar; outs: string[] } {
  const sidecar = new Sidecar();
  const outs = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'run-')));
  const listed = (out: string) => ({ out, kind: 'generate', state: 'stopped', graph: join(out, 'rpg.json') });
  sidecar.answers['trellis/listRuns'] = () => ({ runs: outs.map(listed) });
  const nodes = [{ id: 'n', name: 'n', leaf: true, dependsOn: [] }];
  sidecar.answers['trellis/planShow'] = () => ({ nodes });
  sidecar.answers['trellis/status'] = () => ({ nodes: {} });
  return { sidecar, outs };
}

test('a run whose folder is deleted gives way to the next, and to none', async () => {
  const { sidecar, outs } = grown(2);
  const jobStore = new JobStore(asClient(sidecar));
  const runs = new RunStore(asClient(sidecar), jobStore);
  const news: RunChange[] = [];
  runs.onChange((it) => news.push(it));
  const shown = async () => {
    await settled();
    mock.timers.tick(100);
    return news.at(-1)?.run?.out;
  };
  await runs.refresh();
  assert.equal(await shown(), outs[0]);
  rmSync(outs[0] ?? '', { recursive: true });
  files.deleted.fire({ fsPath: outs[0] ?? '' });
  assert.equal(await shown(), outs[1]);
  // Where the editor saw nothing, it is noticed with the next question.
  rmSync(outs[1] ?? '', { recursive: true });
  sidecar.states.fire('running');
  assert.equal(await shown(), undefined);
  assert.equal(runs.error, undefined);
  runs.dispose();
  jobStore.dispose();
});
