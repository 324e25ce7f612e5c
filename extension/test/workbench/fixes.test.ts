// Proposals in difficult cases: over several files, cancelled, across a reload, of other processes and of runs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import { terminal } from '../lane/sidecar';

const cart = `from shop.rates import FREE_FROM


def shipping(total):
    if total > FREE_FROM:
        return 0
    return 5
`;
const rates = 'FREE_FROM = 110\n';
const fixed = { cart: cart.replace('> FREE', '>= FREE'), rates: 'FREE_FROM = 100\n' };

/** Tests wait for as long as there is a file `hold` in the tested copy of the project. */
const conftest = `import os
import time

import pytest


@pytest.fixture(autouse=True)
def held():
    while os.path.exists("hold"):
        time.sleep(0.05)
`;

const tests = `from shop.cart import shipping


def test_free_from_a_hundred():
    assert shipping(100) == 0


def test_below():
    assert shipping(99) == 5
`;

const block = (path: string, search: string, replace: string) =>
  `${path}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;
const both =
  block('shop/cart.py', '    if total > FREE_FROM:', '    if total >= FREE_FROM:') +
  block('shop/rates.py', 'FREE_FROM = 110', 'FREE_FROM = 100');

const leaf = (id: string, result: string, dependencies: string[]) => ({
  id,
  name: id,
  type: 'function',
  node_type: 'leaf',
  file_path: `src/lib/${id}.py`,
  signature: `def ${id}(x: int) -> int`,
  docstring: `Return ${result} for an int x.`,
  dependencies,
  subgraph_id: 'lib',
});
const graph = {
  nodes: [leaf('square', 'x * x', []), leaf('negated', '-square(x)', ['square'])],
  edges: [{ source: 'negated', target: 'square', type: 'function_call' }],
  metadata: { project_name: 'lib', version: '0.1.0', description: 'A little library.' },
};

const python = (code: string) => `\`\`\`python\n${code}\n\`\`\`\n`;
const body = (id: string, result: string) => python(`def ${id}(x: int) -> int:\n    return ${result}`);
const asserted = (id: string, results: readonly number[]) =>
  python(
    [
      `from lib.${id} import ${id}`,
      ...results.map((it, at) => `def test_${id}_${at}():\n    assert ${id}(${at + 1}) == ${it}`),
    ].join('\n\n\n'),
  );

/** Replies of the model: a fix of `square`, which needs a review. */
const REPLIES: readonly [string, string, string][] = [
  ['test_cart.py::test_free_from_a_hundred', 'repair', both],
  ['square', 'tests', asserted('square', [1, 4, 9])],
  ['square', 'implementation', body('square', 'x ** 3')],
  ['square', 'fix', body('square', 'x * x')],
  ['negated', 'tests', asserted('negated', [-1, -4, -9])],
  ['negated', 'implementation', body('negated', '-square(x)')],
];

const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(
  replies,
  REPLIES.map(([node, stage, reply]) => `${JSON.stringify({ node, stage, attempt: 0, reply })}\n`).join(''),
);
after(() => rmSync(dirname(replies), { recursive: true }));
const model = `recorded:${replies}`;
const settings = {
  'trellis.model': model,
  'trellis.sandbox': 'local',
  'trellis.approve': 'supervised',
  'trellis.smallEdits': 0,
};

test('proposals over several files, of other processes and of runs are decided', async () => {
  await withSession('fixes', { settings }, async (session) => {
    const root = join(session.server.scratch.root, 'shop');
    const files = { 'shop/cart.py': cart, 'shop/rates.py': rates, 'test_cart.py': tests };
    for (const [path, text] of Object.entries({ ...files, 'conftest.py': conftest, 'shop/__init__.py': '' }))
      write(join(root, path), text);
    await session.workbench.open(root);
    await acceptPart(session, root);
    await cancelDecision(session, root);
    await reloadWindow(session, root);
    const plans = join(session.server.scratch.root, 'plans');
    write(join(plans, 'rpg.json'), JSON.stringify(graph));
    await session.workbench.open(plans);
    await decideRunInTerminal(session, plans);
    await decideRunInEditor(session, plans);
  });
});

/** One of two files fixes nothing: nothing is written, and the whole proposal can still be decided. */
async function acceptPart({ workbench }: Session, root: string): Promise<void> {
  await workbench.openFile('test_cart.py');
  await workbench.lens(/^Run$/).nth(0).click();
  await workbench.lens('✗').waitFor();
  await workbench.lens('Fix…').click();
  await workbench.tab('rates.py (fix-1)').waitFor();
  await workbench.tab('cart.py (fix-1)').waitFor();
  await workbench.lens('Accept hunk').click();
  await workbench.notification('fix-1 was not accepted').waitFor();
  await workbench.picture('fixes-1-failed');
  assert.deepEqual(code(root), { cart, rates });
  await workbench.tab(/^test_cart\.py$/).click();
  await workbench.lens('✗').first().waitFor();
  // The test run of the decision has shown that the other test passes; nothing was written.
  assert.equal(await workbench.lens('✓').count(), 1);
  await workbench.tab('cart.py (fix-1)').click();
  await workbench.notification('Applying your decision about fix-1').waitFor({ state: 'detached' });
}

/** A cancelled decision decides nothing. */
async function cancelDecision({ workbench }: Session, root: string): Promise<void> {
  const hold = join(root, 'hold');
  write(hold, '');
  await workbench.lens(/^.?.?Accept$/).click();
  const deciding = workbench.notification('Applying your decision about fix-1');
  await deciding.locator(workbench.button('Cancel')).click();
  await deciding.waitFor({ state: 'detached' });
  rmSync(hold);
  assert.deepEqual(code(root), { cart, rates });
  await workbench.tab('cart.py (fix-1)').waitFor();
  await workbench.picture('fixes-2-cancelled');
}

/**
 * After a reload no tab shows an error; an edit is discarded when the person agrees, and all tabs are closed with the
 * proposal.
 */
async function reloadWindow({ workbench }: Session, root: string): Promise<void> {
  await workbench.lens(/^.?.?Edit$/).click();
  await workbench.lens('Accept edited').waitFor();
  await workbench.page.locator('.editor.modified .view-line').filter({ hasText: 'return 0' }).click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.type('  # mine');
  await workbench.page.keyboard.press('Control+S');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  await workbench.picture('fixes-3-before-reload');
  await workbench.command('Developer: Reload Window');
  await workbench.activity('Trellis');
  await workbench.treeItem('shop/cart.py').waitFor();
  await workbench.picture('fixes-3-reloaded');
  assert.equal(await workbench.page.locator('.monaco-editor-pane-placeholder').count(), 0);
  await workbench.treeItem('shop/cart.py').click();
  await workbench.page.locator('.editor.modified .view-line').filter({ hasText: '# mine' }).waitFor();
  await workbench.lens('Back to proposal').click();
  await workbench.button('Discard My Edits').click();
  await workbench.lens(/^.?.?Accept$/).click();
  await workbench.notification('fix-1 was accepted and written to shop/cart.py, shop/rates.py').waitFor();
  await workbench.tab('(fix-1)').first().waitFor({ state: 'detached' });
  assert.deepEqual(code(root), fixed);
  await workbench.openFile('test_cart.py');
  await workbench.lens('✓').nth(1).waitFor();
  await workbench.picture('fixes-4-accepted');
}

/** A run in a terminal without a person proposes a fix in the editor. */
async function decideRunInTerminal({ server, workbench }: Session, plans: string): Promise<void> {
  await workbench.openFile('rpg.json');
  await workbench.statusItem('trellis.run').waitFor();
  await workbench.watches(plans, 'rpg.json');
  const run = [join(plans, 'rpg.json'), '--out', join(plans, 'output'), '--model', model];
  const child = terminal(server, ['generate', ...run, '--sandbox', 'local', '--approve', 'supervised']);
  const [exit] = await once(child, 'exit', { signal: AbortSignal.timeout(limits.generation) });
  assert.equal(exit, 2, 'a person has to decide');
  await workbench.notification('fix-1 for src/lib/square.py is ready for review').waitFor();
  await workbench.picture('fixes-5-elsewhere');
}

/** The run is resumed in the editor, waits for the decision, and follows it. */
async function decideRunInEditor({ workbench }: Session, plans: string): Promise<void> {
  await workbench.command('Trellis: Generate Repository from Graph');
  await workbench.answerGenerate('rpg.json');
  const waits = workbench.notification('fix-1 for src/lib/square.py is ready for review');
  await workbench.answer(waits, 'Review').click();
  await waits.waitFor({ state: 'detached' });
  await workbench.lens(/^.?.?Accept$/).waitFor();
  await workbench.picture('fixes-6-of-a-run');
  await workbench.lens(/^.?.?Accept$/).click();
  // Each message is shown for some seconds, one before or after the other.
  await Promise.all([
    workbench.notification('fix-1 was accepted. The run now tests it and writes it.').waitFor(),
    workbench.notification('2 of 2 nodes passed').waitFor({ timeout: limits.generation }),
  ]);
  await workbench.tab('(fix-1)').waitFor({ state: 'detached' });
  await workbench.picture('fixes-7-done');
  assert.match(readFileSync(join(plans, 'output', 'src', 'lib', 'square.py'), 'utf8'), /return x \* x/);
}

function code(root: string): { cart: string; rates: string } {
  const text = (name: string) => readFileSync(join(root, 'shop', `${name}.py`), 'utf8');
  return { cart: text('cart'), rates: text('rates') };
}
