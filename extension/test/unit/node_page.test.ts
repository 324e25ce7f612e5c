// The page of a node, as HTML.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l10n } from 'vscode';
import { NodePage } from '../../src/panel/node_page';
import { nodePageHtml } from '../../src/panel/node_page_html';
import { lineOfTest } from '../../src/panel/test_line';
import type { AttemptResult, NodeResult } from '../../src/protocol';
import { FakeSidecar } from './fake_sidecar';
import { EventEmitter, editor, Uri } from './vscode';

const attempt: AttemptResult = {
  outcome: 'AssertionError: assert 1 == 2',
  passed: 2,
  failed: 1,
  test: 'tests/test_a.py::test_one',
  expected: '2',
  actual: '1',
  change: '--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = "<b>"\n',
  isUnusable: false,
  runs: 1,
  model: 'openai:m',
  finding: null,
};
const facts: NodeResult = {
  id: 'm.a',
  name: 'a <i>',
  status: 'failed',
  reason: 'no luck (after 1 fixes)',
  cause: 'the code under test `a` gave None',
  recommendation: null,
  graph: '/w/rpg.json',
  specification: 'Does.',
  path: 'src/a.py',
  testPath: 'tests/test_a.py',
  test: 'tests/test_a.py::test_one',
  failure: {
    exception: 'AssertionError',
    message: 'assert 1 == 2',
    path: 'tests/test_a.py',
    line: 4,
    expected: '2',
    actual: '1',
    operator: '==',
  },
  attempts: [attempt, { ...attempt, outcome: 'no code', change: null, isUnusable: true }],
  steps: [],
  tests: 'def test_one(): ...\n',
  implementation: 'x = 1\n',
  blocks: [{ id: 'm.b', name: 'b', status: 'skipped' }],
};
const state = { kind: 'generate', status: 'failed', stage: undefined, canRetry: true } as const;

test('a page has the failing test, both values, the attempts and what waits, and escapes them', () => {
  const html = nodePageHtml(facts, state, l10n.t);
  for (const part of [
    'a &lt;i>',
    '<code>a</code> gave None.',
    'data-action="tests">test_one<',
    '<dt>Expected</dt><dd class="expected"><pre>2</pre>',
    '<dt>Actual</dt><dd class="actual"><pre>1</pre>',
    '2 attempts',
    '<span class="added">+x = &quot;&lt;b>&quot;\n</span>',
    'could not be run',
    'data-action="node" data-id="m.b">b<',
    'Written by openai:m.',
  ])
    assert.ok(html.includes(part), `${part} in\n${html}`);
  assert.ok(!html.includes('<i>') && !html.includes('+++ b/a.py'), html);
});

test('a difference keeps lines that look like names of files, and marks what it leaves out', () => {
  const change = '--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n--- note\n+++x\n@@ -9 +9 @@\n-y\n\\ No newline\n';
  const html = nodePageHtml({ ...facts, attempts: [{ ...attempt, change }] }, state, l10n.t);
  const rows = html.split('<span class="').slice(1);
  const shown = rows
    .map((it) => it.slice(0, it.indexOf('\n')))
    .filter((it) => /^(added|removed|gap)/.test(it));
  assert.deepEqual(shown, ['removed">--- note', 'added">+++x', 'gap">⋯', 'removed">-y']);
});

test('a retry is offered while nothing runs, and only for nodes that did not pass', () => {
  const disabled = nodePageHtml(facts, { ...state, canRetry: false }, l10n.t);
  assert.match(disabled, /data-action="retry" disabled/);
  assert.match(nodePageHtml(facts, state, l10n.t), /data-action="retry">Retry</);
  const passed = nodePageHtml({ ...facts, status: 'passed' }, state, l10n.t);
  assert.ok(!passed.includes('data-action="retry"') && passed.includes('data-action="edit"'));
  assert.match(passed, /data-action="node">Open Code</);
});

test('a task shows its stages that say something, and what it blocks', () => {
  const steps = [
    { stage: 'code 1', reason: '' },
    { stage: 'failed', reason: 'the new tests do not pass\nassert 1 == 2\n' },
  ];
  const task = { ...facts, attempts: [], cause: null, test: null, failure: null, steps };
  const html = nodePageHtml(task, { ...state, kind: 'tasks' }, l10n.t);
  assert.match(html, /<strong>failed<\/strong> the new tests do not pass<pre>assert 1 == 2<\/pre>/);
  assert.ok(!html.includes('code 1') && html.includes('no luck (after 1 fixes)'), html);
  assert.match(html, /Edit the Task.*Blocks 1 node/s);
});

test('an attempt of an old journal says that its text was not kept', () => {
  const old = { ...facts, attempts: [{ ...attempt, change: null }] };
  assert.match(nodePageHtml(old, state, l10n.t), /1 attempt<.*was not kept/s);
});

test('a test is found in its text by its name, parameters apart', () => {
  const text =
    'import a\n\nclass TestA:\n    async def test_it(self):\n        ...\n\ndef test_it_too(): ...\n';
  const table = [
    ['t.py::TestA::test_it', 4],
    ['t.py::test_it_too[1-[x]]', 7],
    ['t.py::test_other', undefined],
  ] as const;
  for (const [id, line] of table) assert.equal(lineOfTest(text, id), line, id);
});

/** Opens the page of a node of the run in `out`, while another run is shown. */
function openedPage(out: string) {
  const sidecar = new FakeSidecar();
  const received = new EventEmitter<unknown>();
  const shown: string[] = [];
  const webview = {
    onDidReceiveMessage: received.event,
    asWebviewUri: (uri: unknown) => uri,
    postMessage: async ({ html }: { html: string }) => shown.push(html),
  };
  const changes = new EventEmitter<unknown>();
  const runs = { onChange: changes.event, current: { out: '/w/other', nodes: new Map() } };
  const jobs = { onChange: new EventEmitter<unknown>().event, jobs: [] };
  const page = new NodePage(Uri.file('/ext') as never, sidecar as never, runs as never, jobs as never);
  const panel = { webview, onDidDispose: () => undefined };
  const attached = () => page.attach(panel as never, { out, id: 'm.a' });
  return { sidecar, received, shown, attached };
}

test('actions on a page are about its own run and node, whatever run is shown', async () => {
  const { sidecar, received, attached } = openedPage('/w/out');
  sidecar.answers['trellis/node'] = () => facts;
  await attached();
  assert.deepEqual(sidecar.params('trellis/node'), [{ out: '/w/out', node: 'm.a' }]);
  editor.ran = [];
  received.fire({ action: 'retry' });
  received.fire({ action: 'node', id: 'm.b' });
  assert.deepEqual(editor.ran, [
    ['trellis.retryThisNode', { out: '/w/out', id: 'm.a' }],
    ['trellis.openNode', { out: '/w/out', id: 'm.b' }],
  ]);
});

test('a page without facts shows the reason, also after it was hidden', async () => {
  const { sidecar, received, shown, attached } = openedPage('/w/out');
  sidecar.answers['trellis/node'] = () => {
    throw new Error('the run is gone');
  };
  await attached();
  received.fire({ action: 'ready' });
  assert.equal(shown.length, 2);
  for (const it of shown) assert.match(it, /role="alert">.*the run is gone/);
});

test('a page gives the advice of the sidecar in terms of the editor', () => {
  const page = (recommendation: string | null) => nodePageHtml({ ...facts, recommendation }, state, l10n.t);
  assert.ok(page(null).includes('Compare the failing test'));
  for (const [given, shown] of [
    ['Add `a` to the specification.', 'Add <code>a</code> to the specification.'],
    [
      'Correct it in `a.py`; run again with `--keep-edits`.',
      'Correct it in <code>a.py</code>; run <code>trellis generate --keep-edits</code> in a terminal.',
    ],
    ['Choose another model with `--model`, then run again.', 'Choose another model, then run again.'],
    [
      'Try a stronger model (`--strong-model`), or tools (`--fix-with tools`).',
      'Try a stronger model, or tools.',
    ],
    [
      'Install `x` into the environment of the tests (see `--python`), then run again.',
      'tests, then run again.',
    ],
    [
      'run again; `--approve autonomous` skips the review.',
      '<code>trellis.approve</code>: <code>autonomous</code> skips',
    ],
  ] as const)
    assert.ok(page(given).includes(shown), `${given}: ${page(given)}`);
});

test('statuses of blocked nodes are in words', () => {
  const blocks = [{ id: 'm.b', name: 'b', status: 'in_progress' }];
  const html = nodePageHtml({ ...facts, blocks }, state, l10n.t);
  assert.ok(html.includes('>b</button> running<'), html);
});
