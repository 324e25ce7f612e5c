// Choices and settings as parameters of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order, resumption, tasksOrder } from '../../src/generation/order';

const table: { name: string; model?: string; own: Record<string, unknown>; wanted: object }[] = [
  { name: 'nothing is set', own: {}, wanted: {} },
  { name: 'empty is not set', own: { model: ' ', 'budget.usd': null }, wanted: {} },
  {
    name: 'settings',
    own: {
      model: 'openai:x',
      jobs: 4,
      'budget.usd': 1.5,
      approve: 'supervised',
      sandbox: 'local',
      testTimeout: 9,
    },
    wanted: {
      model: 'openai:x',
      jobs: 4,
      budgetUsd: 1.5,
      approve: 'supervised',
      sandbox: 'local',
      testTimeout: 9,
    },
  },
  { name: 'a choice wins', model: 'editor', own: { model: 'openai:x' }, wanted: { model: 'editor' } },
  {
    name: 'what is no amount',
    own: { jobs: 'many', sandbox: 'moon', 'budget.tokens': Number.NaN },
    wanted: {},
  },
  {
    name: 'what tests may have',
    own: {
      'allow.env': { STAGE: 'test', PORT: 80, ODD: null },
      'allow.passEnv': ['TOKEN', 7],
      'allow.python': ' /envs/shop ',
      'allow.memory': 4096,
      'allow.cores': 0,
      'allow.network': true,
      'allow.readOnly': false,
      'allow.runSeconds': 60,
    },
    wanted: {
      allow: {
        env: ['STAGE=test', 'PORT=80'],
        passEnv: ['TOKEN'],
        python: '/envs/shop',
        memory: 4096,
        network: true,
        runSeconds: 60,
      },
    },
  },
  { name: 'no money at all', own: { 'budget.usd': 0 }, wanted: { budgetUsd: 0 } },
];

test('only what is set is sent', () => {
  for (const { name, model, own, wanted } of table) {
    const chosen = { graph: '/g.json', out: '/out' };
    const given = model === undefined ? chosen : { ...chosen, model };
    assert.deepEqual(
      order(given, (it) => own[it]),
      { graph: '/g.json', out: '/out', ...wanted },
      name,
    );
  }
});

test('a run goes on with its own options, within the budget of today', () => {
  const own: Record<string, unknown> = {
    model: 'openai:x',
    jobs: 4,
    'budget.usd': 2,
    'budget.minutes': null,
  };
  assert.deepEqual(
    resumption('/out', (it) => own[it]),
    { out: '/out', budgetUsd: 2 },
  );
  // What tests may have is kept by no run.
  own['allow.cores'] = 2;
  assert.deepEqual(
    resumption('/out', (it) => own[it]),
    { out: '/out', budgetUsd: 2, allow: { cores: 2 } },
  );
});

test('tasks are ordered with the same settings, no more at a time than are taken', () => {
  const chosen = { file: '/tasks.json', stack: 'go-api', out: '/out' };
  const set: Record<string, unknown> = {
    model: 'openai:x',
    jobs: 64,
    'budget.usd': 2,
    approve: 'supervised',
  };
  assert.deepEqual(
    tasksOrder(chosen, (name) => set[name]),
    { ...chosen, model: 'openai:x', jobs: 16, budgetUsd: 2 },
  );
  assert.deepEqual(
    tasksOrder({ ...chosen, model: 'editor' }, (name) => (name === 'jobs' ? 2 : undefined)),
    { ...chosen, model: 'editor', jobs: 2 },
  );
  assert.deepEqual(
    tasksOrder(chosen, () => undefined),
    chosen,
  );
});
