// Requests that begin jobs: each receives the events of its own job, in whatever order jobs begin and events arrive.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event as TrellisEvent } from '../../src/protocol';
import { requestJob } from '../../src/sidecar/job_request';
import { asClient, FakeSidecar, resultOf, settled } from './fake_sidecar';

type JobState = Extract<TrellisEvent, { type: 'job' }>['state'];

const job = (id: string, method = 'runTests', state: JobState = 'running'): TrellisEvent => ({
  type: 'job',
  job: id,
  method,
  title: '',
  state,
});
const log = (message: string, id: string): TrellisEvent => ({ type: 'log', level: 'info', message, job: id });

/** Answers to a request. */
interface Sent {
  readonly answer: (result: unknown) => void;
  readonly refuse: (error: Error) => void;
}

class Requests {
  readonly sidecar = new FakeSidecar();
  /** Requests that the sidecar has not answered, by folder. */
  readonly open = new Map<unknown, Sent>();
  /** Lines that listeners received, by folder: ids of jobs, then messages. */
  readonly received = new Map<string, string[]>();
  listed: { job: string; method: string }[] = [];

  constructor() {
    this.sidecar.answers['trellis/runTests'] = ({ root }) =>
      new Promise((answer, refuse) => this.open.set(root, { answer, refuse }));
    this.sidecar.answers['trellis/jobs'] = () => ({ jobs: this.listed });
  }

  /** Begins a request for a folder; resolves when it was sent, if it may be. */
  async begin(root: string): Promise<void> {
    const lines: string[] = [];
    this.received.set(root, lines);
    const onBegin = (id: string) => lines.push(id);
    const onEvent = (event: TrellisEvent) => {
      if (event.type === 'log') lines.push(event.message);
    };
    const request = requestJob(asClient(this.sidecar), 'trellis/runTests', { root }, { onBegin, onEvent });
    request.catch(() => {});
    await settled();
  }

  tell(...events: TrellisEvent[]): void {
    for (const it of events) this.sidecar.events.fire(it);
  }

  async answer(root: string): Promise<void> {
    this.open.get(root)?.answer(resultOf(root));
    this.open.delete(root);
    await settled();
  }

  async refuse(root: string): Promise<void> {
    this.open.get(root)?.refuse(new Error('no'));
    this.open.delete(root);
    await settled();
  }
}

test('two jobs of one method that are begun together receive their own events, however these interleave', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  await requests.begin('/b');
  assert.deepEqual([...requests.open.keys()], ['/a'], 'the second is sent when the first has its job');
  requests.tell(job('job-1'));
  await settled();
  assert.deepEqual([...requests.open.keys()], ['/a', '/b']);
  requests.tell(log('early of b', 'job-2'), log('of a', 'job-1'), job('job-2'), log('of b', 'job-2'));
  requests.tell(job('job-1', 'runTests', 'done'), log('last of a', 'job-1'));
  await requests.answer('/b');
  await requests.answer('/a');
  assert.deepEqual(
    [...requests.received],
    [
      ['/a', ['job-1', 'of a', 'last of a']],
      ['/b', ['job-2', 'early of b', 'of b']],
    ],
  );
});

test('a request receives nothing of jobs of other methods, of earlier jobs, or of no job', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  requests.tell(job('job-1'));
  await requests.answer('/a');
  await requests.begin('/b');
  const nobody: TrellisEvent = { type: 'log', level: 'info', message: 'of nobody' };
  requests.tell(job('job-1', 'runTests', 'running'), log('of the first', 'job-1'), nobody);
  requests.tell(job('job-2', 'repair'), log('of a repair', 'job-2'));
  requests.tell(job('job-3'), log('of b', 'job-3'));
  assert.deepEqual(requests.received.get('/b'), ['job-3', 'of b']);
});

test('a job whose beginning the sidecar left out is known by its end', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  requests.tell(log('of a', 'job-1'), job('job-1', 'runTests', 'done'));
  assert.deepEqual(requests.received.get('/a'), ['job-1', 'of a']);
});

test('events that come after the answer are not those of the next request', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  await requests.begin('/b');
  requests.listed = [{ job: 'job-1', method: 'runTests' }];
  await requests.answer('/a');
  requests.tell(job('job-1', 'runTests', 'done'), log('of a', 'job-1'), job('job-2'), log('of b', 'job-2'));
  assert.deepEqual(requests.received.get('/b'), ['job-2', 'of b']);
});

test('the list of jobs after an answer does not hide the new job of another method', async () => {
  const requests = new Requests();
  const lines: string[] = [];
  requests.sidecar.answers['trellis/repair'] = () => new Promise(() => {});
  const onBegin = (id: string) => lines.push(id);
  void requestJob(asClient(requests.sidecar), 'trellis/repair', { root: '/r' }, { onBegin });
  await requests.begin('/a');
  requests.listed = [
    { job: 'job-1', method: 'runTests' },
    { job: 'job-2', method: 'repair' },
  ];
  await requests.answer('/a');
  requests.tell(job('job-2', 'repair'));
  assert.deepEqual(lines, ['job-2']);
});

test('a refused request, and a sidecar that cannot list its jobs, let the next request through', async () => {
  const requests = new Requests();
  requests.sidecar.answers['trellis/jobs'] = () => Promise.reject(new Error('gone'));
  await requests.begin('/a');
  await requests.begin('/b');
  await requests.refuse('/a');
  assert.deepEqual([...requests.open.keys()], ['/b']);
  requests.tell(job('job-1'), log('of b', 'job-1'));
  assert.deepEqual(requests.received.get('/b'), ['job-1', 'of b']);
});

test('a job whose events were dropped is found in the list of jobs', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  requests.listed = [
    { job: 'job-1', method: 'repair' },
    { job: 'job-2', method: 'runTests' },
  ];
  requests.tell({ type: 'missed', count: 7 });
  await settled();
  requests.tell(log('of a', 'job-2'));
  assert.deepEqual(requests.received.get('/a'), ['job-2', 'of a']);
});

test('a sidecar that starts again numbers its jobs anew', async () => {
  const requests = new Requests();
  await requests.begin('/a');
  requests.tell(job('job-1'));
  requests.sidecar.states.fire('restarting');
  await requests.refuse('/a');
  requests.sidecar.states.fire('running');
  await requests.begin('/b');
  requests.tell(job('job-1'), log('of b', 'job-1'));
  assert.deepEqual(requests.received.get('/b'), ['job-1', 'of b']);
});
