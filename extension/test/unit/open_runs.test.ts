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
  mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] });
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
    sidecar.isEnding = true;
    sidecar.states.fire('stopped');
    for (const it of parts) it.dispose();
  };
  const interrupted = (milliseconds: number) => {
    mock.timers.tick(milliseconds);
    return new OpenRuns(state).interrupted;
  };
  return { sidecar, jobStore, run, close, interrupted };
}

test('a run that was under way when the window was reloaded is known for a moment', () => {
  const window = openedWindow();
  window.run('running');
  mock.timers.tick(3_600_000);
  window.close();
  assert.deepEqual(window.interrupted(50_000), ['/p/out']);
  assert.deepEqual(window.interrupted(7_000), ['/p/out'], 'a second reload before it goes on');
  assert.deepEqual(window.interrupted(10_000), [], 'the person has left');
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
  for (const states of [['restarting', 'running'], ['stopped']] as const) {
    const window = openedWindow();
    window.run('running');
    for (const state of states) window.sidecar.states.fire(state);
    mock.timers.tick(10_000);
    window.close();
    assert.deepEqual(window.interrupted(1_000), [], states.join());
  }
});

test('a run that the person has cancelled or paused waits, even before the server knows', async () => {
  for (const method of ['trellis/cancelJob', 'trellis/pauseJob'] as const) {
    const window = openedWindow();
    window.run('running');
    await window.jobStore.control(method, 'job-1');
    window.run('running');
    window.close();
    assert.deepEqual(window.interrupted(1_000), [], method);
  }
  const window = openedWindow();
  window.run('running');
  await window.jobStore.control('trellis/pauseJob', 'job-1');
  await window.jobStore.control('trellis/resumeJob', 'job-1');
  window.run('running');
  window.close();
  assert.deepEqual(window.interrupted(1_000), ['/p/out'], 'resumed');
});

test('a retried node does not become the whole run', () => {
  const window = openedWindow();
  window.sidecar.events.fire({ type: 'job', job: 'job-2', method: 'retryNode', title: '', state: 'running' });
  window.jobStore.started('job-2', '/p/out');
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

/** Starts the server of a window whose reload ended a run, and returns the resumed folders. */
async function resumedBy(listed: () => object[], starts = 1): Promise<unknown[]> {
  const { sidecar, jobStore } = openedWindow();
  sidecar.answers['trellis/listRuns'] = () => ({ runs: listed() });
  sidecar.answers['trellis/generate'] = () => ({ job: 'job-1' });
  offerResumesAtStart(asClient(sidecar), jobStore, ['/p/out']);
  for (let it = 0; it < starts; it += 1) {
    sidecar.states.fire('running');
    await settled();
    mock.timers.tick(1_000);
    await settled();
    workspace.isTrusted = true;
  }
  return sidecar.params('trellis/generate').map((it) => it.out);
}

const STOPPED = { out: '/p/out', state: 'stopped', kind: 'generate', passed: 1, total: 3 };

test('a run whose old process is still there goes on when that has ended', async () => {
  const listed = [[{ ...STOPPED, state: 'active' }], [STOPPED]];
  assert.deepEqual(await resumedBy(() => listed.shift() ?? []), ['/p/out']);
});

test('a run does not go on where the folder was not trusted, or nothing is to be offered', async () => {
  workspace.isTrusted = false;
  assert.deepEqual(await resumedBy(() => [STOPPED], 2), [], 'trusted later');
  editor.settings = { offerResume: false };
  assert.deepEqual(await resumedBy(() => [STOPPED]), []);
  editor.settings = {};
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
