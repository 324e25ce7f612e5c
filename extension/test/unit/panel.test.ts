// Runs and nodes as values, with the rows and the graph that are made of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l10n } from 'vscode';
import { graphMessage, parseMessage, statesMessage } from '../../src/panel/graph_messages';
import { placeNodes } from '../../src/panel/layout';
import {
  ALL_STATUSES,
  changedGroups,
  contextOf,
  descriptionOf,
  type Filter,
  failedIn,
  groupStatus,
  groupsOf,
  lineOf,
  type Row,
  staleKeys,
  summary,
} from '../../src/panel/node_rows';
import type {
  PlanShowResult,
  StatusResult,
  TasksStatusResult,
  Event as TrellisEvent,
} from '../../src/protocol';
import {
  applyEvent,
  changedNodes,
  type Run,
  type RunSource,
  runOf,
  statusesOfTasks,
  withCost,
  withStatus,
} from '../../src/run/run_state';

const words = l10n.t;

/** Makes a plan: `a: b c` is a leaf with the dependencies b and c; `[m]` a module. */
function plan(...lines: string[]): PlanShowResult {
  const nodes = lines.map((line) => {
    const [id = '', needs = ''] = line.split(':');
    const leaf = !id.startsWith('[');
    const subgraph = id.includes('/') ? (id.split('/')[0] ?? null) : null;
    const dependsOn = needs.split(' ').filter((it) => it !== '');
    return {
      id,
      name: `name of ${id}`,
      kind: 'function',
      leaf,
      filePath: 'a.py',
      subgraph,
      parents: [],
      dependsOn,
    };
  });
  return { dialect: 'rpg', nodes, problems: [] };
}

function status(nodes: Record<string, [string, string?]>): StatusResult {
  const entries = Object.entries(nodes).map(([id, [it, reason]]) => {
    const results = { passed: 0, failed: 0 };
    const entry = { status: it, timestamp: '', test_results: results, retry_count: 0, flaky: [] };
    return [id, reason === undefined ? entry : { ...entry, failure_reason: reason }] as const;
  });
  const figures = { total: 0, completed: 0, percent: 0, current: [], failed: [], blocked: [], counts: {} };
  return { ...figures, nodes: Object.fromEntries(entries) };
}

const PLAN = plan('[m]', 'x/a', 'x/b: x/a [m] gone', 'y/c: x/a x/b');
const ABOUT: RunSource = { kind: 'generate', out: '/out', graph: '/rpg.json' };
const run = (stands?: StatusResult, isActive = true): Run => runOf(ABOUT, PLAN, stands, isActive);
const node = (id: string, to: string, reason?: string): TrellisEvent => {
  const event: TrellisEvent = { type: 'node', job: 'job-1', node: id, status: to };
  return reason === undefined ? event : { ...event, reason };
};
const stage = (id: string): TrellisEvent => ({
  type: 'stage',
  job: 'job-1',
  node: id,
  stage: 'red',
  outcome: '3 failed',
});

test('a run has the leaves of its plan, with the statuses of the checkpoint', () => {
  const made = run(status({ 'x/a': ['passed'], 'x/b': ['failed', 'no luck'], 'y/c': ['unheard-of'] }));
  const shown = [...made.nodes.values()].map((it) => [it.id, it.status, it.reason, it.needs.join(' ')]);
  assert.deepEqual(shown, [
    ['x/a', 'passed', undefined, ''],
    ['x/b', 'failed', 'no luck', 'x/a'],
    ['y/c', 'other', undefined, 'x/a x/b'],
  ]);
});

test("an unknown status is shown in the sidecar's word", () => {
  const table: [string, Run][] = [
    ['of a checkpoint', run(status({ 'x/a': ['passed'], 'x/b': ['parked', 'later'] }))],
    ['of an event', applyEvent(run(status({ 'x/a': ['passed'] })), node('x/b', 'parked', 'later'))],
    [
      'of a newer checkpoint',
      withStatus(run(), status({ 'x/a': ['passed'], 'x/b': ['parked', 'later'] }), true),
    ],
  ];
  for (const [name, made] of table) {
    const it = made.nodes.get('x/b');
    assert.equal(it && descriptionOf(it, words), 'parked', name);
    assert.equal(it && contextOf(it, 'generate'), 'node other', name);
    assert.equal(summary([...made.nodes.values()], words), '1/3 passed, 1 parked', name);
    const seen = [...groupsOf(made, new Set(['failed']))].map(([name, nodes]) => [name, groupStatus(nodes)]);
    assert.deepEqual(seen, [['x', 'other']], 'no filter holds it back');
    const after = withStatus(made, status({ 'x/a': ['passed'], 'x/b': ['shelved', 'later'] }), true);
    assert.deepEqual(changedNodes(made, after), new Set(['x/b']), 'from one such state to another');
    assert.equal(applyEvent(after, node('x/b', 'failed')).nodes.get('x/b')?.word, undefined, name);
  }
});

test('a node in progress counts as stopped when no process works on it', () => {
  const checkpoint = status({ 'x/a': ['in_progress'], 'x/b': ['passed'] });
  const table: [string, Run, string, string][] = [
    ['at work', run(checkpoint, true), 'in_progress', '1/3 passed, 1 running'],
    ['cut off', run(checkpoint, false), 'stopped', '1/3 passed, 1 stopped'],
    ['ended', withStatus(run(checkpoint, true), checkpoint, false), 'stopped', '1/3 passed, 1 stopped'],
    ['resumed', withStatus(run(checkpoint, false), checkpoint, true), 'in_progress', '1/3 passed, 1 running'],
    [
      'told',
      applyEvent(run(checkpoint, false), node('x/a', 'in_progress')),
      'in_progress',
      '1/3 passed, 1 running',
    ],
  ];
  for (const [name, made, stands, said] of table) {
    assert.equal(made.nodes.get('x/a')?.status, stands, name);
    assert.equal(made.nodes.get('x/b')?.status, 'passed', name);
    assert.equal(summary([...made.nodes.values()], words), said, name);
  }
  assert.deepEqual(
    [...groupsOf(run(checkpoint, false), ALL_STATUSES)].map(([, it]) => groupStatus(it)),
    ['stopped', 'pending'],
  );
});

test('an event changes one node only', () => {
  const before = run();
  const table: [string, TrellisEvent[], readonly string[]][] = [
    ['work begins', [node('x/a', 'in_progress')], ['x/a']],
    ['a stage', [stage('x/b')], ['x/b']],
    ['two nodes', [node('x/a', 'passed'), node('x/b', 'skipped', 'why')], ['x/a', 'x/b']],
    ['a node that is none', [node('z', 'passed')], []],
    ['other things', [{ type: 'missed', count: 1 }], []],
  ];
  for (const [name, events, changed] of table) {
    const after = events.reduce(applyEvent, before);
    assert.deepEqual(changedNodes(before, after), new Set(changed), name);
    assert.equal(after === before, changed.length === 0, name);
  }
  const working = [stage('x/a'), node('x/a', 'in_progress')].reduce(applyEvent, before).nodes.get('x/a');
  assert.equal(working && descriptionOf(working, words), 'red: 3 failed');
  const done = [stage('x/a'), node('x/a', 'failed', 'why')].reduce(applyEvent, before).nodes.get('x/a');
  assert.deepEqual(
    [done?.stage, done?.reason, done && contextOf(done, 'generate')],
    [undefined, 'why', 'node failed'],
  );
});

test('another run or plan changes all nodes, and a newer checkpoint only some', () => {
  const before = run();
  assert.equal(changedNodes(undefined, before), 'all');
  assert.equal(changedNodes(before, runOf({ ...ABOUT, out: '/else' }, PLAN, undefined, true)), 'all');
  assert.equal(changedNodes(before, runOf(ABOUT, plan('x/a'), undefined, true)), 'all');
  assert.equal(changedNodes(before, runOf(ABOUT, plan('a', 'b', 'c'), undefined, true)), 'all');
  const other = plan('x/a', 'x/b', 'y/c: x/a x/b');
  assert.equal(changedNodes(before, runOf(ABOUT, other, undefined, true)), 'all', 'other edges');
  const newer = withStatus(before, status({ 'x/a': ['passed'] }), true);
  assert.deepEqual(changedNodes(before, newer), new Set(['x/a']));
  assert.equal(withStatus(newer, status({ 'x/a': ['passed'] }), true), newer);
});

test('the cost follows the checkpoint, and statuses from events stay', () => {
  const counted = (tokens: number): StatusResult => {
    const { nodes, ...rest } = status({ 'x/a': ['pending'] });
    const model = { calls: 1, input_tokens: tokens, output_tokens: 0, usd: 0 };
    return { ...rest, nodes: { ...nodes, z: { status: 'passed', timestamp: '', model } } };
  };
  const told = applyEvent(run(counted(10)), node('x/a', 'passed'));
  const later = withCost(told, counted(20));
  assert.deepEqual(
    [told, later].map((it) => it.cost?.tokens),
    [10, 20],
  );
  assert.equal(later.nodes.get('x/a')?.status, 'passed');
  assert.equal(withCost(later, counted(20)), later, 'nothing is new');
  assert.equal(withCost(later, status({})), later, 'nothing is known');
  assert.equal(withStatus(later, counted(30), true).cost?.tokens, 30);
});

test('rows that do not belong to the run any more are removed', () => {
  const rows = new Map<string, Row>([
    ['group x', { kind: 'group', subgraph: 'x' }],
    ['group z', { kind: 'group', subgraph: 'z' }],
    ['node x/a', { kind: 'node', id: 'x/a' }],
    ['node z/a', { kind: 'node', id: 'z/a' }],
    ['reason x/b', { kind: 'reason', id: 'x/b' }],
    ['reason z/b', { kind: 'reason', id: 'z/b' }],
  ]);
  assert.deepEqual(staleKeys(rows, run()), ['group z', 'node z/a', 'reason z/b']);
  assert.deepEqual(staleKeys(rows, undefined), [...rows.keys()]);
});

test('rows are grouped, filtered and counted', () => {
  const made = run(status({ 'x/a': ['passed'], 'x/b': ['failed', 'why'] }));
  const shape = (filter: Parameters<typeof groupsOf>[1]) =>
    [...groupsOf(made, filter)].map(([name, nodes]) => [name, nodes.map((it) => it.id), groupStatus(nodes)]);
  assert.deepEqual(shape(ALL_STATUSES), [
    ['x', ['x/a', 'x/b'], 'failed'],
    ['y', ['y/c'], 'pending'],
  ]);
  assert.deepEqual(shape(new Set(['passed'])), [['x', ['x/a'], 'passed']]);
  assert.deepEqual(shape(new Set()), []);
  const all = [...made.nodes.values()];
  assert.equal(summary(all, words), '1/3 passed, 1 failed');
});

test('only changed subgraphs are drawn again, with and without a filter', () => {
  const before = run(status({ 'x/a': ['passed'], 'y/c': ['failed', 'why'] }));
  const failed: Filter = new Set(['failed']);
  const table: [string, Filter, TrellisEvent[], ReturnType<typeof changedGroups>][] = [
    ['nothing', ALL_STATUSES, [], []],
    ['a node moves', ALL_STATUSES, [node('x/a', 'failed')], ['x']],
    ['two move', ALL_STATUSES, [node('x/b', 'passed'), node('y/c', 'passed')], ['x', 'y']],
    ['a node that is not shown moves', failed, [node('x/b', 'passed')], []],
    ['a reason is another', failed, [node('y/c', 'failed', 'other')], ['y']],
    ['a subgraph comes', failed, [node('x/a', 'failed')], 'all'],
    ['a subgraph goes', failed, [node('y/c', 'passed')], 'all'],
    ['one goes, one comes', failed, [node('y/c', 'passed'), node('x/a', 'failed')], 'all'],
  ];
  for (const [name, filter, events, drawn] of table) {
    const after = events.reduce(applyEvent, before);
    assert.deepEqual(changedGroups(groupsOf(before, filter), groupsOf(after, filter)), drawn, name);
  }
});

test('every node lies right of its dependencies, and no two nodes share a place', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => ({
    id: `n${index}`,
    needs: index === 0 ? [] : [`n${index - 1}`],
  }));
  const table = [
    [...run().nodes.values()],
    chain.reverse(),
    [
      { id: 'a', needs: ['b'] },
      { id: 'b', needs: ['a'] },
      { id: 'c', needs: ['c', 'a', 'gone'] },
    ],
    [],
  ];
  for (const nodes of table) {
    const places = new Map(placeNodes(nodes).map((it) => [it.id, it]));
    assert.equal(places.size, nodes.length);
    assert.equal(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size, nodes.length);
    const back = nodes.flatMap(({ id, needs }) =>
      needs.filter((it) => (places.get(it)?.x ?? -1) >= (places.get(id)?.x ?? 0)),
    );
    // One edge of a cycle has to lead back.
    assert.ok(back.length <= (nodes.length === 3 && nodes[0]?.id === 'a' ? 2 : 0), back.join());
  }
});

test('the page gets the whole graph first, and then only changes', () => {
  const made = run(status({ 'x/a': ['passed'] }));
  const { nodes } = graphMessage(made);
  assert.deepEqual(
    nodes.map((it) => [it.id, it.status, it.needs]),
    [
      ['x/a', 'passed', []],
      ['x/b', 'pending', ['x/a']],
      ['y/c', 'pending', ['x/a', 'x/b']],
    ],
  );
  assert.deepEqual(statesMessage(made, ['x/a', 'gone']).states, [['x/a', 'passed']]);
});

test('only messages of the page are accepted', () => {
  const table: [unknown, unknown][] = [
    [{ type: 'ready' }, { type: 'ready', chosen: undefined }],
    [
      { type: 'ready', chosen: 'a' },
      { type: 'ready', chosen: 'a' },
    ],
    [
      { type: 'ready', chosen: 1 },
      { type: 'ready', chosen: undefined },
    ],
    [
      { type: 'open', id: 'a', more: 1 },
      { type: 'open', id: 'a' },
    ],
    [{ type: 'open' }, undefined],
    [{ type: 'delete', id: 'a' }, undefined],
    ['open', undefined],
    [null, undefined],
  ];
  for (const [message, expected] of table) assert.deepEqual(parseMessage(message), expected);
});

test('tasks are nodes of a run, with menus of their own', () => {
  const told: TasksStatusResult = {
    status: 'GENERATING',
    running: true,
    progress: 20,
    totalTasks: 5,
    completedTasks: ['done'],
    currentTasks: ['now'],
    failedTasks: { bad: 'no luck' },
    blockedTasks: { after: 'bad failed' },
    file: '/tasks.json',
    stack: 'go-api',
  };
  const tasks = plan('done', 'now: done', 'bad', 'after: bad', 'later');
  const about: RunSource = { kind: 'tasks', out: '/out', graph: '/tasks.json' };
  const made = runOf(about, tasks, statusesOfTasks(told), true);
  const shown = [...made.nodes.values()].map((it) => [it.id, it.status, it.reason, contextOf(it, made.kind)]);
  assert.deepEqual(shown, [
    ['done', 'passed', undefined, 'task passed'],
    ['now', 'in_progress', undefined, 'task in_progress'],
    ['bad', 'failed', 'no luck', 'task failed'],
    ['after', 'skipped', 'bad failed', 'task skipped'],
    ['later', 'pending', undefined, 'task pending'],
  ]);
  assert.equal(made.cost, undefined);
  const merged = withStatus(
    made,
    statusesOfTasks({ ...told, completedTasks: ['done', 'now'], currentTasks: [] }),
    true,
  );
  assert.equal(merged.nodes.get('now')?.status, 'passed');
  assert.equal(merged.nodes.get('bad'), made.nodes.get('bad'), 'what is as before stays the same value');
});

test('the line of a task is found by its id', () => {
  const list = '{"tasks": [\n  {"id": "a b", "description": "b"},\n  {"id" :"b"}]}';
  const table: [string, number | undefined][] = [
    ['a b', 2],
    ['b', 3],
    ['c', undefined],
  ];
  for (const [id, line] of table) assert.equal(lineOf(list, id), line, id);
});

test('failed nodes are found in the file of their graph only', () => {
  const made = run(status({ 'x/a': ['failed', 'no luck'], 'x/b': ['passed'] }));
  const text = '{ "nodes": [\n  { "id": "x/b" },\n  { "id": "x/a" }\n] }\n';
  const table: [string, [number, string][]][] = [
    [made.graph, [[3, 'x/a']]],
    [`${made.out}/docs/rpg.json`, [[3, 'x/a']]],
    ['/elsewhere/rpg.json', []],
  ];
  for (const [path, wanted] of table)
    assert.deepEqual(
      failedIn(made, path, () => text).map(([line, it]) => [line, it.id]),
      wanted,
      path,
    );
  assert.deepEqual(
    failedIn(undefined, made.graph, () => text),
    [],
  );
});
