// Generated tests are shown beside the file, wait in the list, and are written once the person accepts them.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';

const tests = `from taxes import tax


def test_nothing():
    assert tax(0) == 0


def test_ten():
    assert tax(10) == 2


def test_five():
    assert tax(5) == 1
`;
const reply = `\`\`\`python\n${tests}\`\`\`\n`;
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(replies, `${JSON.stringify({ node: 'taxes.py::tax', stage: 'write_tests', attempt: 0, reply })}\n`);
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = { 'trellis.model': `recorded:${replies}`, 'trellis.sandbox': 'local' };

test('generated tests are shown before they are written', async () => {
  await withSession('previews', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    write(join(root, 'taxes.py'), 'def tax(price):\n    return price / 5\n');
    // The extension is active in such a folder without an open file.
    write(join(root, 'pytest.ini'), '[pytest]\n');
    const file = join(root, 'trellis_tests', 'test_taxes.py');
    await workbench.open(root);
    await workbench.openFile('taxes.py');
    await workbench.lens('Generate tests').first().click();
    await workbench.tab('test_taxes.py (tests for tax)').waitFor();
    await workbench.line('assert tax(10) == 2').first().waitFor();
    const shown = workbench.notification('Tests for tax: 3 of 3 pass. Nothing is written yet.');
    await workbench.answer(shown, 'Later').click();
    assert.ok(!existsSync(file));
    // A window that is closed loses nothing.
    await workbench.open(root);
    await workbench.statusItem('trellis.review').filter({ hasText: 'generated tests to review' }).waitFor();
    await workbench.activity('Trellis');
    const row = workbench.treeItem('Tests for tax');
    await row.filter({ hasText: '3 of 3 pass' }).waitFor();
    await row.click();
    await workbench.line('assert tax(10) == 2').first().waitFor();
    await workbench.page
      .locator('.editor-group-container.active .editor-actions a[aria-label^="Accept Tests"]')
      .first()
      .waitFor();
    await workbench.pictures('previews-1-shown', root, settings);
    // With the keyboard: the difference has the focus.
    await workbench.line('assert tax(10) == 2').first().click();
    await workbench.page.keyboard.press('Control+Enter');
    const written = workbench.notification('Tests for tax: 3 of 3 pass');
    await written.waitFor();
    await workbench.picture('previews-2-written');
    assert.ok(readFileSync(file, 'utf8').includes('assert tax(10) == 2'));
    await workbench.tab('tests for tax').waitFor({ state: 'detached' });
    await workbench.statusItem('trellis.review').waitFor({ state: 'hidden' });
    await workbench.openFile('taxes.py');
    await workbench.lens('\u2713 passed').first().waitFor();
    await workbench.answer(written, 'Open Tests').click();
    await workbench.tab(/^test_taxes\.py$/).waitFor();
    await workbench.lens(/^Run$/).nth(2).waitFor();
  });
});
