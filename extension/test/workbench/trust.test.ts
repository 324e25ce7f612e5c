// A folder without trust: it can be read, and nothing of it is executed.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

/** An import of this module writes a file. */
const trap = "open('was-executed', 'w').close()\n";
const REASON = 'Trust this folder to run its tests';

test('nothing is executed in a folder before it is trusted', async () => {
  await withSession('trust', { trusted: false }, async ({ server, workbench }) => {
    const folder = project(server.scratch.root);
    write(join(folder, 'conftest.py'), trap);
    write(join(folder, 'test_more.py'), 'def test_more():\n    pass\n');
    const before = readdirSync(folder);
    await workbench.open(folder);
    await workbench.page.locator('#status\\.workspaceTrust').waitFor();
    await workbench.openFile('prices.py');
    await workbench.page.keyboard.press('Control+Shift+O');
    await workbench.option('discounted').waitFor();
    await workbench.picture('untrusted-symbols');
    await workbench.page.keyboard.press('Escape');
    await workbench.page.keyboard.press('F1');
    await workbench.input().fill('>Trellis: ');
    await workbench.option('Show Output').waitFor();
    assert.equal(await workbench.option('Run Demo').count(), 0);
    await workbench.picture('untrusted-commands');
    await workbench.page.keyboard.press('Escape');
    await checkRestricted(workbench);
    assert.deepEqual(readdirSync(folder), before);
    rmSync(join(folder, 'conftest.py'));
    await trustFolder(workbench);
  });
});

/** The view shows why it has no tests, and no lens executes anything. */
async function checkRestricted(workbench: Workbench): Promise<void> {
  await workbench.command('Testing: Focus on Test Explorer View');
  await workbench.expand(workbench.testParent('shop'));
  await workbench.treeItem(REASON).waitFor();
  await workbench.openFile('test_prices.py');
  // Marks are made of the same answer as lenses.
  await workbench.page.locator('.monaco-editor .testing-run-glyph').first().waitFor();
  assert.equal(await workbench.lens(/./).count(), 0);
  await workbench.picture('untrusted-tests');
}

/** Once the folder is trusted its tests are found, and a lens runs one, in the same window. */
async function trustFolder(workbench: Workbench): Promise<void> {
  await workbench.page.evaluate(() => Object.assign(window, { sameWindow: true }));
  await workbench.command('Workspaces: Manage Workspace Trust');
  await workbench.button(/^Trust$/).click();
  await workbench.page.locator('#status\\.workspaceTrust').waitFor({ state: 'detached' });
  // The newer editor asks in a modal dialog, which a click beside it closes.
  const front = workbench.page.locator('.monaco-modal-editor-block');
  if (await front.isVisible()) await front.click({ position: { x: 20, y: 20 } });
  await workbench.testParent('test_more.py').waitFor();
  await workbench.treeItem(REASON).waitFor({ state: 'detached' });
  await workbench.tab('test_prices.py').click();
  await workbench.lens(/^Run$/).first().click();
  await workbench.lens('✓').waitFor();
  assert.ok(await workbench.page.evaluate(() => 'sameWindow' in window), 'the window was not reloaded');
  await workbench.picture('trusted');
}
