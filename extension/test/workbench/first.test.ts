// The first minutes with the extension, in a folder with a Python file.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { debugged, pythonDebugger } from '../lane/debugger';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

test('a lens runs a test, lens and Testing view show the outcome, and a failed test is debugged', async () => {
  await withSession('lens', { others: [pythonDebugger()] }, async ({ server, workbench }) => {
    const folder = project(server.scratch.root);
    await workbench.open(folder);
    await workbench.openFile('test_prices.py');
    await workbench.lens(/^Run$/).nth(1).waitFor();
    await workbench.picture('lenses');
    await workbench.watches(folder, 'prices.py');
    await runBoth(workbench);
    await workbench.command('Testing: Focus on Test Explorer View');
    for (const it of ['shop', 'test_prices.py']) await workbench.expand(workbench.testParent(it));
    await workbench.testItem('test_total', 'Passed').waitFor();
    await workbench.testItem('test_discounted', 'Failed').waitFor();
    await workbench.picture('results');
    await workbench.testItem('test_discounted', 'Failed').hover();
    await workbench
      .testItem('test_discounted', 'Failed')
      .locator('.action-label[aria-label^="Debug Test"]')
      .click();
    await workbench.notification('Debugged.').waitFor();
    const { module, args, cwd, env, program } = debugged(server);
    const wanted = ['pytest', ['test_prices.py::test_discounted'], folder, {}, undefined];
    assert.deepEqual([module, args, cwd, env, program], wanted);
    // Deleted tests disappear.
    rmSync(join(folder, 'test_prices.py'));
    await workbench.testParent('test_prices.py').waitFor({ state: 'detached' });
  });
});

test('the gutter shows outcomes without the Testing view, messages tell what debugging and models need, and the walkthrough opens', async () => {
  await withSession(
    'gutter',
    { settings: { 'testing.gutterEnabled': false } },
    async ({ server, workbench }) => {
      const root = project(server.scratch.root);
      write(join(root, 'taxes.py'), 'def tax(price):\n    return price / 5\n');
      await workbench.open(root);
      await workbench.openFile('test_prices.py');
      await workbench.lens(/^Run$/).nth(1).waitFor();
      await workbench.waitForGutter(0);
      await runBoth(workbench);
      await workbench.waitForGutter(2);
      await workbench.picture('gutter');
      // At its start: the editor's own texts are behind its end.
      await workbench.line('def test_discounted').click({ position: { x: 20, y: 8 } });
      await workbench.command('Test: Debug Test at Cursor');
      await workbench.notification('Install "Python Debugger" (ms-python.debugpy)').waitFor();
      await workbench.openFile('taxes.py');
      await workbench.lens('Generate tests').first().click();
      const lacking = workbench.notification('no model is configured');
      await lacking.locator(workbench.button('Select Model…')).click();
      await workbench.option('ollama').first().click();
      await workbench.page
        .locator('.quick-input-widget:visible')
        .filter({ hasText: 'Which Ollama model?' })
        .waitFor();
      await workbench.input().fill('mine');
      await workbench.input().press('Enter');
      // The model is saved in the user settings, not in the project.
      await workbench.notification('Model set to ollama:mine in your user settings.').waitFor();
      assert.ok(!existsSync(join(root, '.vscode')));
      await workbench.command('Trellis: Get Started');
      await workbench.page.locator('.getting-started-step').nth(5).waitFor();
      await workbench.picture('walkthrough');
    },
  );
});

/** Runs the passing test, then the failing one. */
async function runBoth(workbench: Workbench): Promise<void> {
  await workbench.lens(/^Run$/).nth(0).click();
  await workbench.lens('✓').waitFor();
  await workbench.lens(/^Run$/).nth(1).click();
  await workbench.lens('✗').waitFor();
}
