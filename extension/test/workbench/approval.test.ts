// Proposals: reviewed, accepted in parts, edited, refused, undone.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const cart = `# The least for which nothing is paid.
FREE_FROM = 100


def price_of(items):
    return sum(count * price for count, price in items)


def shipping(items):
    total = price_of(items)
    if total > FREE_FROM:
        return 0
    return 5
`;

const tests = `from shop.cart import price_of, shipping


def test_free_from_a_hundred():
    assert shipping([(2, 50)]) == 0


def test_below():
    assert shipping([(1, 99)]) == 5


def test_prices():
    assert price_of([(2, 3)]) == 6
`;

const comment = '# From here on nothing is paid.';
const failing = 'test_cart.py::test_free_from_a_hundred';
const fixed = cart.replace('> FREE_FROM', '>= FREE_FROM');

const block = (search: string, replace: string) =>
  `shop/cart.py\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

/** Replies of the model: a better comment, and the fix. */
const reply =
  'The boundary counts, too.\n\n' +
  block('# The least for which nothing is paid.', comment) +
  block('    if total > FREE_FROM:', '    if total >= FREE_FROM:');

interface Shop {
  readonly root: string;
  /** Reads the code from the disk. */
  readonly code: () => string;
}

/** Makes a shop with a failing test. */
function makeShop(root: string): Shop {
  write(join(root, 'pytest.ini'), '[pytest]\n');
  write(join(root, 'shop', '__init__.py'), '');
  write(join(root, 'shop', 'cart.py'), cart);
  write(join(root, 'test_cart.py'), tests);
  return { root, code: () => readFileSync(join(root, 'shop', 'cart.py'), 'utf8') };
}

const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(replies, `${JSON.stringify({ node: failing, stage: 'repair', attempt: 0, reply })}\n`);
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = {
  'trellis.model': `recorded:${replies}`,
  'trellis.sandbox': 'local',
  'trellis.smallEdits': 0,
};

test('proposals are accepted in parts, undone, edited, refused and rejected', async () => {
  await withSession('approval', { settings }, async (session) => {
    const own = makeShop(join(session.server.scratch.root, 'shop'));
    await session.workbench.open(own.root);
    await proposeTwice(session);
    await decideHunks(session, own);
    await keepFileChanges(session, own);
    await acceptEdited(session, own);
    await rejectProposal(session, own);
  });
});

/** The test fails, and its quick fix is requested twice: two proposals wait. */
async function proposeTwice({ workbench }: Session): Promise<void> {
  await workbench.openFile('test_cart.py');
  await workbench.lens(/^Run$/).nth(0).click();
  await workbench.lens('✗').waitFor();
  await workbench.activity('Trellis');
  // A view that is opened takes the focus, and closes what had it.
  await workbench.page.getByText('No run yet.').waitFor();
  for (const number of [1, 2]) {
    await front(workbench.tab(/^test_cart\.py$/));
    await workbench.quickFix('assert shipping([(2, 50)]) == 0', `Fix ${failing}…`);
    // A fix that was asked for is shown without a notification.
    await workbench.tab(`cart.py (fix-${number})`).waitFor();
    await workbench
      .treeItem('cart.py')
      .nth(number - 1)
      .waitFor();
  }
  assert.equal(await workbench.notification('ready for review').count(), 0);
  await workbench.page.locator('.activitybar .badge').filter({ hasText: '2' }).first().waitFor();
  await workbench.picture('approval-1-waiting');
}

/** One hunk is rejected, the other accepted and undone; the next proposal is shown by itself. */
async function decideHunks({ workbench }: Session, own: Shop): Promise<void> {
  await front(workbench.tab('cart.py (fix-1)'));
  await workbench.lens('Accept hunk').nth(1).waitFor();
  // A comment cannot be covered by a test.
  await workbench.lens(/Fixes the failing test · 2 others still pass$/).waitFor();
  await workbench.lens('The boundary counts, too.').waitFor();
  await waitForColours(workbench);
  await workbench.picture('approval-2-difference');
  await workbench.lens('Reject hunk').first().click();
  const left = workbench.notification('Hunks left to review: 1.');
  await left.waitFor();
  // The last hunk is the rest of the fix.
  await workbench.lens('Accept hunk').first().waitFor({ state: 'detached' });
  assert.equal(own.code(), cart);
  await workbench.lens(/^.?.?Accept$/).click();
  const accepted = workbench.notification('fix-1 was accepted and written to shop/cart.py');
  await workbench.hold(accepted);
  await left.waitFor({ state: 'detached' });
  assert.equal(own.code(), fixed);
  await workbench.tab('cart.py (fix-2)').waitFor();
  await workbench.tab('cart.py (fix-1)').waitFor({ state: 'detached' });
  // The tests of the decision: the failed one, and two that had not run.
  await front(workbench.tab(/^test_cart\.py$/));
  await workbench.lens('✓').nth(2).waitFor();
  await passedInGutter(workbench).nth(2).waitFor();
  await workbench.picture('approval-3-accepted');
  await workbench.command('Trellis: Undo Accepted Fix');
  await workbench.notification('fix-1 was undone. Restored: shop/cart.py.').waitFor();
  assert.equal(own.code(), cart);
  await workbench.lens('✗').waitFor();
  await passedInGutter(workbench).nth(2).waitFor({ state: 'detached' });
  assert.equal(await workbench.lens('✓').count(), 2);
}

/** Unsaved and saved changes of the file stay. */
async function keepFileChanges({ workbench }: Session, own: Shop): Promise<void> {
  const { keyboard } = workbench.page;
  await workbench.openFile('shop/cart.py');
  await workbench.typeAfter('return 5', '  # mine');
  await front(workbench.tab('cart.py (fix-2)'));
  await workbench.lens(/^.?.?Accept$/).click();
  await workbench.notification('unsaved').waitFor();
  await workbench.picture('approval-4-unsaved');
  assert.equal(own.code(), cart);
  await front(workbench.tab(/^cart\.py$/));
  await workbench.line('# mine').first().click();
  await keyboard.press('Control+S');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  await front(workbench.tab('cart.py (fix-2)'));
  await workbench.lens(/^.?.?Accept$/).click();
  const stale = workbench.notification('changed since fix-2');
  await workbench.answer(stale, 'Update Fix').click();
  await stale.waitFor({ state: 'detached' });
  await workbench.page.locator('.editor.modified .view-line').filter({ hasText: '# mine' }).waitFor();
  assert.equal(own.code(), cart.replace('return 5', 'return 5  # mine'));
}

/** The proposed text is edited before it is accepted. */
async function acceptEdited({ workbench }: Session, own: Shop): Promise<void> {
  await workbench.lens(/^.?.?Edit$/).click();
  await workbench.lens('Accept edited').waitFor();
  await workbench.page.locator('.editor.modified .view-line').filter({ hasText: 'FREE_FROM = 100' }).click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.type('  # euros');
  await workbench.picture('approval-5-edited');
  await workbench.lens('Accept edited').click();
  await workbench.notification('fix-2 was accepted').waitFor();
  await workbench.tab('(fix-2)').waitFor({ state: 'detached' });
  const code = own.code();
  for (const it of ['# euros', '# mine', comment, '>= FREE_FROM'])
    assert.ok(code.includes(it), `${it}: ${code}`);
}

/** The undone proposal is rejected: its tabs are closed, and the file is as before. */
async function rejectProposal({ workbench }: Session, own: Shop): Promise<void> {
  const before = own.code();
  await workbench.treeItem('cart.py').first().click();
  await workbench.tab('cart.py (fix-1)').waitFor();
  await workbench.lens(/^.?.?Reject$/).click();
  await workbench.notification('fix-1 was rejected. Nothing was written.').waitFor();
  await workbench.tab('(fix-1)').waitFor({ state: 'detached' });
  await workbench.tab(/^test_cart\.py$/).waitFor();
  await workbench.treeItem('cart.py').waitFor({ state: 'detached' });
  await workbench.notification('fix-1 was undone').waitFor({ state: 'detached' });
  await workbench.picture('approval-6-rejected');
  assert.equal(own.code(), before);
}

/** Waits until the proposed text is coloured: its language is one of ours, so that no other diff has lenses. */
async function waitForColours({ page }: Workbench): Promise<void> {
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll('.editor.modified .view-line span[class*="mtk"]')];
    return new Set(all.map((it) => it.className)).size > 2;
  });
}

/** Marks of the Testing view. */
function passedInGutter(workbench: Workbench): Locator {
  return workbench.page.locator('.glyph-margin-widgets .codicon-testing-passed-icon');
}

async function front(tab: Locator): Promise<void> {
  await tab.first().click();
}
