// Jobs as a value, and texts about them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l10n } from 'vscode';
import { runFinished } from '../../src/generation/run_finished';
import { remainingTime, statusText } from '../../src/generation/status_text';
import type { JobInfo, StatusResult, Event as TrellisEvent } from '../../src/protocol';
import { type Budget, budgetOf, type Cost, costOf, costText } from '../../src/run/cost';
import {
  applyEvent,
  budgetFor,
  countOpenShortJobs,
  currentRun,
  fromList,
  type Job,
  type Jobs,
  NO_JOBS,
  openLongJobs,
  withStarted,
} from '../../src/run/jobs';

const words = l10n.t;
const job = (id: string, state: Job['state'], method = 'generate'): TrellisEvent => ({
  type: 'job',
  job: id,
  method,
  title: `title of ${id}`,
  state,
});
const progress = (id: string, done: number): TrellisEvent => ({
  type: 'progress',
  job: id,
  done,
  total: 50,
  percent: done * 2,
  etaSeconds: 120,
});
const after = (...events: TrellisEvent[]): Jobs => events.reduce(applyEvent, NO_JOBS);

test('the current run is the newest open one', () => {
  const table: [string, TrellisEvent[], string | undefined, number][] = [
    ['nothing', [], undefined, 0],
    ['one run', [job('job-1', 'running')], 'job-1', 0],
    ['a paused one', [job('job-1', 'paused')], 'job-1', 0],
    ['one that ended', [job('job-1', 'running'), job('job-1', 'done')], undefined, 0],
    ['two', [job('job-1', 'running'), job('job-2', 'running', 'retryNode')], 'job-2', 0],
    ['a list of tasks', [job('job-1', 'running', 'tasks')], 'job-1', 0],
    ['tests beside a run', [job('job-1', 'running'), job('job-2', 'running', 'runTests')], 'job-1', 1],
  ];
  for (const [name, events, wanted, others] of table) {
    const jobs = after(...events);
    assert.equal(currentRun(jobs)?.id, wanted, name);
    assert.equal(countOpenShortJobs(jobs), others, name);
  }
});

test('all open jobs, the newest ended ones and the job of the last event are kept', () => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `job-${from + at}`);
  const begin = after(job('job-0', 'running'));
  const many = ids(1, 500).reduce((jobs, id) => applyEvent(jobs, job(id, 'done', 'runTests')), begin);
  assert.deepEqual([...many.keys()], ['job-0', ...ids(399, 500)]);
  const ended = applyEvent(many, job('job-0', 'done'));
  assert.equal(ended.get('job-0')?.state, 'done');
});

test('an event keeps the other fields of a job', () => {
  const files: TrellisEvent = { type: 'files', job: 'job-1', root: '/out', paths: ['a.py'] };
  const jobs = after(job('job-1', 'running'), progress('job-1', 3), files, job('job-1', 'paused'));
  const { progress: counted, out, state } = currentRun(jobs) ?? {};
  assert.deepEqual(counted, { done: 3, total: 50, percent: 6, etaSeconds: 120 });
  assert.deepEqual([out, state], ['/out', 'paused']);
});

test('a run has the folder it was begun with, and events from before the answer', () => {
  const early = after(job('job-1', 'running'), progress('job-1', 1));
  const jobs = withStarted(early, 'job-1', '/mine');
  assert.equal(currentRun(jobs)?.out, '/mine');
  assert.equal(currentRun(jobs)?.progress?.done, 1);
  const files: TrellisEvent = { type: 'files', job: 'job-1', root: '/mine', paths: [] };
  assert.equal(applyEvent(jobs, files), jobs, 'nothing is new');
});

test('a list of jobs replaces all but the folders', () => {
  const shape: JobInfo = {
    job: 'job-1',
    method: 'generate',
    title: 't',
    state: 'running',
    startedAt: '2026-01-01T00:00:00Z',
    progress: { done: 1, total: 3 },
  };
  const before = withStarted(after(job('job-1', 'running'), job('job-2', 'running')), 'job-1', '/out');
  const jobs = fromList(before, [shape]);
  assert.deepEqual([...jobs.keys()], ['job-1']);
  assert.deepEqual(jobs.get('job-1')?.progress, { done: 1, total: 3, percent: 33 });
  assert.equal(jobs.get('job-1')?.out, '/out');
});

test('the status bar shows the progress of a run, and other jobs', () => {
  const running = currentRun(after(job('job-1', 'running'), progress('job-1', 12)));
  const paused = currentRun(after(job('job-1', 'paused'), progress('job-1', 12)));
  const fresh = currentRun(after(job('job-1', 'running')));
  const repair = { id: 'job-9', method: 'repair', title: 'repair of a.py', state: 'running' } as const;
  const table: [Parameters<typeof statusText>[0], Job | undefined, number, string, string][] = [
    ['running', undefined, 0, '$(type-hierarchy-sub) Trellis', 'plain'],
    ['starting', undefined, 0, '$(sync~spin) Trellis', 'plain'],
    ['running', undefined, 2, '$(sync~spin) Trellis', 'plain'],
    ['running', repair, 0, '$(sync~spin) Trellis · repair of a.py', 'plain'],
    ['running', running, 1, '$(sync~spin) Trellis · 12/50 24% · 2 min left', 'plain'],
    ['running', paused, 0, '$(debug-pause) Trellis · 12/50 24% · paused', 'plain'],
    ['running', fresh, 0, '$(sync~spin) Trellis', 'plain'],
    ['restarting', running, 0, '$(sync~spin) Trellis', 'warning'],
    ['stopped', undefined, 0, '$(error) Trellis', 'error'],
  ];
  for (const [state, run, others, text, look] of table) {
    const made = statusText(state, run === undefined ? [] : [run], others, words);
    assert.deepEqual([made.text, made.severity], [text, look]);
    assert.notEqual(made.tooltip, '');
  }
});

test('long jobs are shown by title and log line, the run first, and short ones by their number', () => {
  const log = (id: string, message: string): TrellisEvent => ({
    type: 'log',
    level: 'info',
    job: id,
    message,
  });
  const jobs = after(
    job('job-1', 'running'),
    progress('job-1', 12),
    job('job-2', 'running', 'repair'),
    job('job-3', 'running', 'implement'),
    job('job-4', 'running', 'runTests'),
    job('job-5', 'done', 'repair'),
    log('job-2', 'looking for the cause\n'),
    log('job-4', 'of a minute'),
    log('job-6', 'of nobody'),
  );
  const open = openLongJobs(jobs);
  assert.deepEqual(
    open.map((it) => it.id),
    ['job-1', 'job-3', 'job-2'],
  );
  assert.deepEqual(
    [countOpenShortJobs(jobs), jobs.get('job-4')?.line, jobs.has('job-6')],
    [1, undefined, false],
  );
  const { text, tooltip } = statusText('running', open, 1, words);
  assert.equal(text, '$(sync~spin) Trellis · 12/50 24% · 2 min left · +2');
  assert.equal(tooltip, 'title of job-1\ntitle of job-3\ntitle of job-2\nlooking for the cause');
});

test('the remaining time is shown in the largest unit that fits', () => {
  const table: [number, string][] = [
    [0, '0 s left'],
    [89, '89 s left'],
    [90, '2 min left'],
    [5399, '90 min left'],
    [5400, '2 h left'],
  ];
  for (const [seconds, wanted] of table) assert.equal(remainingTime(seconds, words), wanted);
});

const status = (failed: string[], blocked: string[]): StatusResult => ({
  counts: { passed: 44, failed: failed.length },
  total: 50,
  completed: 50,
  percent: 100,
  current: [],
  failed,
  blocked,
  nodes: {},
});

test('the message at the end of a run has its counts and the next action', () => {
  const of = (state: Job['state'], more: Partial<Job> = {}): Job => ({
    id: 'job-1',
    method: 'generate',
    title: 'sprout',
    state,
    ...more,
  });
  const wrong = { error: 'no key', hint: 'set one' };
  const table: [Job, StatusResult | undefined, string, string, boolean, boolean][] = [
    [of('done'), status([], []), 'sprout is done. 44 of 50 nodes passed.', 'info', true, false],
    [
      of('done'),
      status(['a', 'b'], ['c']),
      'sprout is done. 44 of 50 nodes passed, 2 failed, 1 skipped.',
      'warning',
      true,
      false,
    ],
    [
      { ...of('done'), method: 'retryNode', title: 'a in sprout' },
      status(['a'], []),
      'a in sprout failed again. 44 of 50 nodes passed, 1 failed.',
      'warning',
      true,
      false,
    ],
    [
      { ...of('done'), out: '/p/trellis-demo/sprout' },
      status(['a', 'b'], ['c']),
      'The demo is done: 44 of 50 functions passed. Two fail on purpose, to show how failures look.',
      'info',
      true,
      false,
    ],
    [
      { ...of('done'), out: '/p/trellis-demo/sprout' },
      status(['a', 'b', 'd'], []),
      'sprout is done. 44 of 50 nodes passed, 3 failed.',
      'warning',
      true,
      false,
    ],
    [of('done'), undefined, 'sprout is done.', 'info', true, false],
    [of('cancelled'), undefined, 'sprout was cancelled. What passed is kept.', 'info', false, true],
    [of('failed', wrong), undefined, 'sprout stopped: no key. Set one', 'error', false, false],
    [of('failed', wrong), status([], []), 'sprout stopped: no key. Set one', 'error', false, true],
  ];
  for (const [given, counts, text, severity, hasReport, isResumable] of table) {
    assert.deepEqual(runFinished(given, counts, words), { text, severity, hasReport, isResumable });
  }
});

test('the cost of a run is the sum of its nodes, if known', () => {
  const entry = (usd: number) => ({
    status: 'passed',
    timestamp: '',
    model: { calls: 2, input_tokens: 100, output_tokens: 10, usd },
  });
  const nodes = { a: entry(0.25), b: entry(0.5), c: { status: 'pending', timestamp: '' } };
  const cost = costOf({ ...status([], []), nodes });
  assert.deepEqual(cost, { tokens: 220, usd: 0.75 });
  assert.equal(costOf(status([], [])), undefined);
});

test('the cost is shown with the budget, if known', () => {
  const table: [Cost, Budget | undefined, string][] = [
    [{ tokens: 123_400, usd: 0.42 }, { usd: 1 }, '$0.42 of $1.00, 123k tokens'],
    [{ tokens: 999, usd: 0.42 }, undefined, '$0.42, 999 tokens'],
    [{ tokens: 1234, usd: 0 }, undefined, '1.2k tokens'],
    [{ tokens: 1000, usd: 0 }, { usd: 1, tokens: 2_500_000 }, '$0.00 of $1.00, 1k of 2.5M tokens'],
    [{ tokens: 99_960, usd: 0.001 }, { tokens: 999_600 }, '<$0.01, 100k of 1M tokens'],
  ];
  for (const [cost, budget, wanted] of table) assert.equal(costText(cost, budget, words), wanted);
});

test('the budget of a folder is that of its newest run', () => {
  const [first, second] = [budgetOf({ out: '/a', budgetUsd: 1 }), budgetOf({ out: '/a', budgetTokens: 5 })];
  assert.deepEqual([first, second], [{ usd: 1 }, { tokens: 5 }]);
  assert.equal(budgetOf({ out: '/a', budgetMinutes: 3 }), undefined);
  const begin = (jobs: Jobs, id: string, out: string, budget?: Budget) =>
    withStarted(applyEvent(jobs, job(id, 'running')), id, out, budget);
  const one = begin(NO_JOBS, 'job-1', '/a', first);
  const other = begin(one, 'job-2', '/b');
  const again = begin(other, 'job-3', '/a', second);
  const ended = applyEvent(again, job('job-3', 'done'));
  assert.deepEqual(
    [one, other, again, ended].map((it) => budgetFor(it, '/a')),
    [first, first, second, second],
  );
  assert.equal(budgetFor(again, '/b'), undefined);
  const kept = currentRun(applyEvent(one, progress('job-1', 1)));
  const open = kept === undefined ? [] : [kept];
  const { tooltip } = statusText('running', open, 0, words, { tokens: 1200, usd: 0.5 });
  assert.equal(tooltip, 'title of job-1\n$0.50 of $1.00, 1.2k tokens');
  assert.equal(
    statusText('running', open, 0, words).tooltip,
    'title of job-1',
    'what is not known is not told',
  );
});
