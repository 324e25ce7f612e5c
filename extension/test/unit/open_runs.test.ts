// Runs that a reload of the window has ended, and work that goes on once a model is chosen.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { OpenRuns } from '../../src/generation/open_runs';
import { offerResumesAtStart } from '../../src/generation/resume_offers';
import { JobStore } from '../../src/run/job_store';
import { TrellisError } from '../../src/sidecar/api';
import { guarded, SOLVED } from '../../src/sidecar/report_error';
import { asClient, FakeSidecar, memento, settled } from './fake_sidecar';
import { editor, workspace } from './vscode';

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] });
  [workspace.isTrusted, editor.said, editor.ran, editor.results] = [true, [], [], {}];
  editor.answer = undefined;
});
afterEach(() => mock.timers.reset());

/** A window with a run of a graph. */
function openedWindow(state = memento()) {
  const sidecar = new FakeSidecar();
  const jobStore = new JobStore(asClient(sidecar));
  const openRuns = new OpenRuns(state);
  const parts = openRuns.follow(asClient(sidecar), jobStore);
  const run = (to: 'running' | 'paused' | 'done') => {
    sidecar.events.fire({ type: 'job', job: 'job-1', method: 'generate', title: '', state: to });
    jobStore.started('job-1', '/p/out');
  };
  const close = () => {
    sidecar.states.fire('stopped');
    for (const it of parts) it.dispose();
  };
  const interrupted = (milliseconds: number) => {
    mock.timers.tick(milliseconds);
    return new OpenRuns(state).interrupted;
  };
  return { sidecar, jobStore, run, close, interrupted };
}

test('a run that was under way when the window was reloaded is known for a minute', () => {
  const window = openedWindow();
  window.run('running');
  mock.timers.tick(3_600_000);
  window.close();
  assert.deepEqual(window.interrupted(50_000), ['/p/out']);
  assert.deepEqual(window.interrupted(20_000), [], 'the person has left');
});

test('runs that have ended or wait are not under way', () => {
  for (const state of ['done', 'paused'] as const) {
    const window = openedWindow();
    window.run('running');
    window.run(state);
    window.close();
    assert.deepEqual(window.interrupted(1_000), [], state);
  }
});

test('a run that a crash of the server ended waits for the person', () => {
  const window = openedWindow();
  window.run('running');
  window.sidecar.states.fire('restarting');
  window.sidecar.states.fire('running');
  mock.timers.tick(10_000);
  window.close();
  assert.deepEqual(window.interrupted(1_000), []);
});

test('such a run goes on by itself once, and others are offered', async () => {
  const { sidecar, jobStore } = openedWindow();
  const stopped = (out: string) => ({ out, state: 'stopped', kind: 'generate', passed: 1, total: 3 });
  sidecar.answers['trellis/listRuns'] = () => ({ runs: [stopped('/p/out'), stopped('/p/old')] });
  sidecar.answers['trellis/generate'] = () => ({ job: 'job-1' });
  offerResumesAtStart(asClient(sidecar), jobStore, ['/p/out']);
  sidecar.states.fire('running');
  await settled();
  const resumed = () => sidecar.params('trellis/generate').map((it) => it.out);
  assert.deepEqual(resumed(), ['/p/out']);
  assert.deepEqual(editor.said.sort(), [
    'The run in /p/old stopped after 1 of 3 nodes. Resume it?',
    'The run in /p/out continues after the reload.',
  ]);
  sidecar.states.fire('running');
  await settled();
  assert.equal(resumed().length, 1, 'a server that starts once more may have ended because of it');
});

test('work goes on once its model is chosen, and not if none is', async () => {
  for (const [result, times] of [
    [SOLVED, 2],
    [undefined, 1],
  ] as const) {
    let tried = 0;
    editor.answer = 'Select Model…';
    editor.results = { 'trellis.selectModel': result };
    const work = guarded('No tests were generated', async () => {
      tried += 1;
      if (tried === 1) throw new TrellisError('no model is configured', 69, undefined, 'noModel');
    });
    await work();
    assert.equal(tried, times);
  }
});
