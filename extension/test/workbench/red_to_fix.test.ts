// From a red function to its fix: without a model, by mouse and by keyboard.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

const cart = `FREE_FROM = 100


def _rounded(total):
    return round(total, 2)


def shipping(total):
    if _rounded(total) > FREE_FROM:
        return 0
    return 5
`;
const fixed = cart.replace('> FREE', '>= FREE');

const tests = `from shop.cart import shipping


def test_free_from_a_hundred():
    assert shipping(100) == 0


def test_below():
    assert shipping(99) == 5


def test_above():
    assert shipping(101) == 0
`;

/** The registry of generated tests, which ties them to their function. */
const registry = {
  version: 1,
  mappings: {
    'shop/cart.py::shipping': {
      testFile: 'test_cart.py',
      testNames: ['test_free_from_a_hundred', 'test_below', 'test_above'],
      generatedAt: '2026-01-01T00:00:00Z',
    },
  },
};

/** No model is set: none is needed. */
const settings = { 'trellis.sandbox': 'local', 'trellis.codeLens.tests': false };

test('a failing function leads to its fix in two clicks, and by keyboard alone', async () => {
  await withSession('red-to-fix', { settings }, async (session) => {
    const root = join(session.server.scratch.root, 'shop');
    write(join(root, 'pytest.ini'), '[pytest]\n');
    write(join(root, 'shop', '__init__.py'), '');
    write(join(root, 'shop', 'cart.py'), cart);
    write(join(root, 'test_cart.py'), tests);
    write(join(root, '.trellis', 'registry.json'), JSON.stringify(registry));
    const code = () => readFileSync(join(root, 'shop', 'cart.py'), 'utf8');
    await session.workbench.open(root);
    await peekFailure(session);
    await fixByMouse(session, code);
    await fixByKeyboard(session, root, code);
  });
});

/** The lens of the failure opens the editor's peek, which offers the fix. */
async function peekFailure({ workbench }: Session): Promise<void> {
  await workbench.openFile('shop/cart.py');
  await workbench.lens(/^Run$/).click();
  await workbench.lens('✗ 1 of 3 failed').waitFor();
  await workbench.lens('Fix…').waitFor();
  assert.equal(await workbench.lens('Generate tests').count(), 0, 'it has tests, or is private');
  await workbench.picture('red-to-fix-1-red');
  await workbench.lens('✗ 1 of 3 failed').click();
  const peek = workbench.page.locator('.peekview-widget');
  await peek.waitFor();
  await workbench.page.getByText('Fix Failing Test', { exact: true }).first().waitFor();
  await workbench.picture('red-to-fix-2-peek');
  await workbench.page.keyboard.press('Escape');
  await peek.waitFor({ state: 'detached' });
}

/** Two clicks, and the review between them. */
async function fixByMouse({ workbench }: Session, code: () => string): Promise<void> {
  await workbench.openFile('shop/cart.py');
  await workbench.lens('Fix…').click();
  await workbench.tab('cart.py (fix-1)').waitFor();
  const facts = 'Proven small edit, no model asked · fixes the failing test · 2 others still pass';
  await workbench.lens(facts).waitFor();
  await workbench.picture('red-to-fix-3-review');
  await workbench.lens(/^.?.?Accept$/).click();
  await workbench.notification('fix-1 was accepted and written to shop/cart.py').waitFor();
  assert.equal(code(), fixed);
  await workbench.openFile('shop/cart.py');
  await workbench.lens('✓ 3 passed').waitFor();
  assert.equal(await workbench.lens('Fix…').count(), 0);
}

/** The failing test in the Testing view has the action, and keys decide about the change at the cursor. */
async function fixByKeyboard({ workbench }: Session, root: string, code: () => string): Promise<void> {
  const { keyboard } = workbench.page;
  write(join(root, 'shop', 'cart.py'), cart);
  await workbench.lens('✓ 3 passed before your change').waitFor();
  await workbench.lens(/^Run$/).click();
  await workbench.lens('✗ 1 of 3 failed').waitFor();
  await workbench.command('Testing: Focus on Test Explorer View');
  const red = workbench.testItem('test_free_from_a_hundred', 'Failed').first();
  await red.click();
  await red.getByLabel('Fix Failing Test').waitFor();
  await workbench.picture('red-to-fix-4-tree');
  await workbench.openFile('shop/cart.py');
  await workbench.line('def shipping').first().click();
  await keyboard.press('Control+Alt+F');
  await workbench.tab('cart.py (fix-2)').waitFor();
  await workbench.lens('Proven small edit').waitFor();
  await workbench.page.locator('.editor.modified .view-line').filter({ hasText: '>= FREE_FROM' }).click();
  await keyboard.press('Control+Enter');
  await workbench.notification('fix-2 was accepted and written to shop/cart.py').waitFor();
  assert.equal(code(), fixed);
  await workbench.picture('red-to-fix-5-accepted');
}
