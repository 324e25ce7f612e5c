// Task lists, and the message about their outcome.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringFields } from '../../src/generation/command_arguments';
import type { TasksResult } from '../../src/protocol';
import { parseTaskList } from '../../src/tasks/task_list';
import { tasksMessage } from '../../src/tasks/tasks_message';

const t = (text: string, ...values: (string | number)[]) =>
  text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));

test('a task list is recognized by its tasks, and may name a stack', () => {
  const table: [string, object | undefined][] = [
    ['{"tasks": []}', {}],
    ['{"tasks": [{"id": "a"}], "tech_stack": "go-api"}', { stack: 'go-api' }],
    ['{"tasks": [], "tech_stack": 3}', {}],
    ['{"tasks": {}}', undefined],
    ['{"nodes": []}', undefined],
    ['[]', undefined],
    ['null', undefined],
    ['{"tasks": [', undefined],
  ];
  for (const [text, wanted] of table) assert.deepEqual(parseTaskList(text), wanted, text);
});

test('only string fields with known names are read from an argument', () => {
  assert.deepEqual(stringFields({ file: '/t.json', out: 3, more: 'x' }, 'file', 'out', 'stack'), {
    file: '/t.json',
  });
  for (const odd of [undefined, null, 'text', 3]) assert.deepEqual(stringFields(odd, 'file'), {});
});

const result: TasksResult = {
  status: 'COMPLETE',
  exitCode: 1,
  out: '/out',
  progress: 33,
  totalTasks: 3,
  completedTasks: ['a'],
  failedTasks: {},
  blockedTasks: {},
  usd: 0,
  tokens: 0,
  time: { seconds: 1, testSeconds: 1, testRuns: 1 },
  notes: [],
  pushed: [],
};

test('the message about a task list has the merged tasks, and why others are not merged', () => {
  const all = ['a', 'b', 'c'];
  const table: [Partial<TasksResult>, string, boolean][] = [
    [{ exitCode: 0, completedTasks: all }, '3 of 3 tasks merged.', true],
    [
      { failedTasks: { b: '4 attempts did not do.\nmore' }, blockedTasks: { c: 'b failed' } },
      '1 of 3 tasks merged, 1 failed, 1 blocked. b: 4 attempts did not do.',
      false,
    ],
    [
      { status: 'FAILED', completedTasks: all },
      '3 of 3 tasks merged. The full test run of the project fails.',
      false,
    ],
    [
      { status: 'FAILED', completedTasks: [] },
      '0 of 3 tasks merged. The tests of the new project fail.',
      false,
    ],
  ];
  for (const [part, text, isGood] of table)
    assert.deepEqual(tasksMessage({ ...result, ...part }, t), { text, isGood });
});
