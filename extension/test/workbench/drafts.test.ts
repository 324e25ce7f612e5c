// Edits of a proposal: kept through clicks, closed tabs and reloads, and written unchanged.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

/** A byte order mark, letters beyond ASCII, and two kinds of line ends: everything that an editor could change. */
const cart = [
  '\ufeff# Café: the least for which nothing is paid.\r\n',
  'FREE_FROM = 100\r\n',
  '\r\n',
  '\n',
  'def shipping(total):\r\n',
  '    if total > FREE_FROM:\n',
  '        return 0\n',
  '    return 5\r\n',
].join('');

const tests = `from shop.cart import shipping


def test_free_from_a_hundred():
    assert shipping(100) == 0
`;

const theirs = '\r\n\r\nOTHERS = 1\r\n';
const accepted = cart.replace('= 100', '= 100  # naïve').replace('> FREE', '>= FREE') + theirs;

const reply =
  'shop/cart.py\n<<<<<<< SEARCH\n    if total > FREE_FROM:\n=======\n    if total >= FREE_FROM:\n>>>>>>> REPLACE\n';
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
const said = { node: 'test_cart.py::test_free_from_a_hundred', stage: 'repair', attempt: 0, reply };
write(replies, `${JSON.stringify(said)}\n`);
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = {
  'trellis.model': `recorded:${replies}`,
  'trellis.sandbox': 'local',
  'trellis.smallEdits': 0,
  'files.encoding': 'iso88591',
};

test('edits of a proposal are not lost, and change nothing else', async () => {
  await withSession('drafts', { settings }, async (session) => {
    const root = join(session.server.scratch.root, 'shop');
    const files = {
      'shop/cart.py': cart,
      'test_cart.py': tests,
      'shop/__init__.py': '',
      'pytest.ini': '[pytest]\n',
    };
    for (const [path, text] of Object.entries(files)) write(join(root, path), text);
    await session.workbench.open(root);
    await refuseChanged(session, root);
    await keepEdits(session);
    await acceptRebased(session, join(root, 'shop', 'cart.py'));
  });
});

/** A proposal that has changed since it was shown is not accepted. */
async function refuseChanged({ workbench }: Session, root: string): Promise<void> {
  await workbench.openFile('test_cart.py');
  await workbench.lens(/^Run$/).first().click();
  await workbench.lens('✗').waitFor();
  await workbench.activity('Trellis');
  await workbench.lens('Fix…').click();
  await workbench.lens(/^.?.?Accept$/).waitFor();
  const proposal = join(root, '.trellis', 'proposals', 'fix-1.json');
  const { revision, ...rest } = JSON.parse(readFileSync(proposal, 'utf8'));
  writeFileSync(proposal, JSON.stringify({ ...rest, revision: revision + 1 }));
  await changedSide(workbench, 'FREE_FROM = 100').click();
  await workbench.command('Trellis: Accept Fix');
  const stale = workbench.notification('you decided about revision 1');
  await workbench.answer(stale, 'Review Again').click();
  await stale.waitFor({ state: 'detached' });
}

/** An edit is there again after a click on its proposal, and, if saved, after a reload without its tab. */
async function keepEdits({ workbench }: Session): Promise<void> {
  const own = changedSide(workbench, '# naïve');
  await workbench.lens(/^.?.?Edit$/).click();
  await workbench.lens('Accept edited').waitFor();
  await changedSide(workbench, 'FREE_FROM = 100').click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.type('  # naïve');
  await workbench.openFile('test_cart.py');
  await own.waitFor({ state: 'detached' });
  await workbench.treeItem('shop/cart.py').click();
  await own.waitFor();
  await workbench.picture('drafts-1-again');
  await own.click();
  await workbench.page.keyboard.press('Control+S');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  await workbench.command('View: Close Editor');
  await workbench.tab('(fix-1)').waitFor({ state: 'detached' });
  await workbench.command('Developer: Reload Window');
  await workbench.treeItem('shop/cart.py').click();
  await own.waitFor();
  await workbench.lens('Accept edited').waitFor();
  await workbench.picture('drafts-2-reloaded');
}

/** A rebase keeps the edit; the accepted text differs from the file in nothing else. */
async function acceptRebased({ workbench }: Session, file: string): Promise<void> {
  appendFileSync(file, theirs);
  await workbench.lens('Accept edited').click();
  const stale = workbench.notification('changed since fix-1');
  await workbench.answer(stale, 'Update Fix').click();
  await stale.waitFor({ state: 'detached' });
  await changedSide(workbench, 'OTHERS = 1').waitFor();
  await changedSide(workbench, '# naïve').waitFor();
  await workbench.picture('drafts-3-rebased');
  await workbench.lens('Accept edited').click();
  await workbench.notification('fix-1 was accepted').waitFor();
  await workbench.tab('(fix-1)').waitFor({ state: 'detached' });
  assert.equal(readFileSync(file, 'utf8'), accepted);
}

function changedSide(workbench: Workbench, text: string): Locator {
  return workbench.page.locator('.editor.modified .view-line').filter({ hasText: text });
}
