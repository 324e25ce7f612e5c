// The run that the Trellis view shows.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { JobStore } from '../../src/run/job_store';
import { type RunChange, RunStore } from '../../src/run/run_store';
import { asClient, FakeSidecar, settled } from './fake_sidecar';
import { files } from './vscode';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Makes folders of runs, and a sidecar that always lists them. */
function makeRuns(count: number): { sidecar: FakeSidecar; outs: string[] } {
  const sidecar = new FakeSidecar();
  const outs = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'run-')));
  const listed = (out: string) => ({ out, kind: 'generate', state: 'stopped', graph: join(out, 'rpg.json') });
  sidecar.answers['trellis/listRuns'] = () => ({ runs: outs.map(listed) });
  const nodes = [{ id: 'n', name: 'n', leaf: true, dependsOn: [] }];
  sidecar.answers['trellis/planShow'] = () => ({ nodes });
  sidecar.answers['trellis/status'] = () => ({ nodes: {} });
  return { sidecar, outs };
}

test("after a run's folder is deleted, the next run is shown, or none", async () => {
  const { sidecar, outs } = makeRuns(2);
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
  // A deletion that the editor missed is noticed with the next request.
  rmSync(outs[1] ?? '', { recursive: true });
  sidecar.states.fire('running');
  assert.equal(await shown(), undefined);
  assert.equal(runs.error, undefined);
  runs.dispose();
  jobStore.dispose();
});
