// Choices and settings as parameters of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order, resumption } from '../../src/generation/order';

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
});
