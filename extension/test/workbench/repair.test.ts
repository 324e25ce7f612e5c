// Failing tests are repaired from the palette, and the editor shows the outcome.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';

const fixOf = (file: string, before: string, after: string) =>
  `${file}\n<<<<<<< SEARCH\n${before}\n=======\n${after}\n>>>>>>> REPLACE\n`;
const fixed = '    return price * (100 - percent) / 100';
const reply = fixOf('prices.py', '    return price - percent', fixed);
const left = fixOf('stock.py', '    return held + sold', '    return held - sold');
const lines = [
  { node: 'test_prices.py::test_discounted', reply },
  { node: 'test_stock.py::test_left', reply: left },
  { node: 'checks/test_more.py::test_half', reply },
];
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(replies, lines.map((it) => `${JSON.stringify({ stage: 'repair', attempt: 0, ...it })}\n`).join(''));
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = { 'trellis.model': `recorded:${replies}`, 'trellis.sandbox': 'local' };

test('failing tests are repaired', async () => {
  await withSession('repair', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    await workbench.open(root);
    await workbench.openFile('test_prices.py');
    await workbench.lens(/^Run$/).first().waitFor();
    await workbench.command('Trellis: Repair Failing Tests');
    const said = workbench.notification('Repaired: 2 tests pass, 0 fail');
    await workbench.hold(said);
    assert.ok(readFileSync(join(root, 'prices.py'), 'utf8').includes(fixed));
    await workbench.lens('✓').nth(1).waitFor();
    await workbench.picture('repair-done');
    await said.locator(workbench.button('Show Report')).click();
    await workbench.tab('report.md').waitFor();
  });
});

test('a repair continues while proposals wait, and its proposals are shown', async () => {
  const supervised = { ...settings, 'trellis.approve': 'supervised' };
  await withSession('repair-waits', { settings: supervised }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    write(join(root, 'stock.py'), 'def left(held, sold):\n    return held + sold\n');
    write(
      join(root, 'test_stock.py'),
      'from stock import left\n\n\ndef test_left():\n    assert left(3, 1) == 2\n',
    );
    await workbench.open(root);
    await workbench.openFile('test_prices.py');
    await workbench.lens(/^Run$/).first().waitFor();
    await workbench.activity('Trellis');
    await workbench.page.getByText('No run yet.').waitFor();
    await workbench.command('Trellis: Repair Failing Tests');
    // Both proposals wait before anything is decided, and the failed tests are marked.
    await workbench.treeItem('prices.py').waitFor();
    await workbench.treeItem('stock.py').waitFor();
    await workbench.lens('✗').waitFor();
    await workbench.picture('repair-waits-1-both');
    await workbench.statusItem('trellis.review').filter({ hasText: '2 fixes to review' }).waitFor();
    await workbench.command('Trellis: Accept All Fixes');
    await workbench.button('Accept 2 Fixes').click();
    await workbench.notification('2 of 2 fixes were accepted.').waitFor();
    for (const file of ['stock.py', 'prices.py'])
      await workbench.treeItem(file).waitFor({ state: 'detached' });
    await workbench.statusItem('trellis.review').waitFor({ state: 'hidden' });
    const said = workbench.notification('Repaired: 3 tests pass, 0 fail');
    await workbench.hold(said);
    assert.ok(readFileSync(join(root, 'stock.py'), 'utf8').includes('held - sold'));
    assert.ok(readFileSync(join(root, 'prices.py'), 'utf8').includes(fixed));
    await workbench.picture('repair-waits-2-done');
  });
});

test('a test outside of testpaths is repaired with all others that have the same cause', async () => {
  await withSession('mends', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    write(
      join(root, 'pyproject.toml'),
      '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
    );
    write(join(root, 'tests', 'test_sum.py'), 'def test_sum():\n    assert sum([1, 2]) == 3\n');
    const more = ['half', 'third'].map(
      (name, at) => `\n\ndef test_${name}():\n    assert discounted(300, ${at + 50}) == ${150 - 3 * at}\n`,
    );
    write(join(root, 'checks', 'test_more.py'), `from prices import discounted\n${more.join('')}`);
    await workbench.open(root);
    await workbench.openFile('checks/test_more.py');
    for (const at of [0, 1]) {
      await workbench.lens(/^Run$/).nth(at).click();
      await workbench.lens('✗').nth(at).waitFor();
    }
    await workbench.activity('Trellis');
    await workbench.page.getByText('No run yet.').waitFor();
    await workbench.lens('Fix…').first().click();
    await workbench.tab('prices.py (fix-1)').waitFor();
    await workbench.lens(/^.?.?Accept$/).click();
    await workbench.notification('It fixes 2 failing tests.').waitFor();
    await workbench.lens('✓').nth(1).waitFor();
    assert.equal(await workbench.lens('✗').count(), 0);
    await workbench.picture('repair-mends');
  });
});
