// The first minutes with the extension, in a folder with a Python file.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
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
      addUntested(root);
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
      await workbench.openFile('prices.py');
      // The other functions have tests.
      await workbench.lens('Generate tests').waitFor();
      assert.equal(await workbench.lens('Generate tests').count(), 1);
      await workbench.lens('Generate tests').click();
      const lacking = workbench.notification('no model is configured');
      await lacking.locator(workbench.button('Select Model…')).click();
      await workbench.option('Anthropic').waitFor();
      await workbench.picture('model-1-providers');
      await workbench.option('Anthropic').click();
      await workbench.option('per million tokens').first().waitFor();
      await workbench.picture('model-2-prices');
      await workbench.page.keyboard.press('Escape');
      await workbench.command('Trellis: Select Model');
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

test('generated tests are previewed, and written when they are accepted', async () => {
  await withSession(
    'preview',
    { settings: { 'trellis.sandbox': 'local' } },
    async ({ server, workbench }) => {
      const root = project(server.scratch.root);
      addUntested(root);
      const replies = join(server.scratch.root, 'replies.jsonl');
      write(replies, `${JSON.stringify(reply)}\n`);
      const settings = { 'trellis.model': `recorded:${replies}` };
      write(join(root, '.vscode', 'settings.json'), JSON.stringify(settings));
      const file = join(root, 'trellis_tests', 'test_prices.py');
      await workbench.open(root);
      await workbench.openFile('prices.py');
      await workbench.lens('Generate tests').click();
      await workbench.tab(/test_prices\.py \(3 of 3 generated tests pass\)/).waitFor();
      await workbench.line('def test_cheapest_of_two').waitFor();
      await workbench.pictures('preview-1-tests', root, settings);
      assert.ok(!existsSync(file), 'nothing is written yet');
      await titleAction(workbench, 'Discard Generated Tests').click();
      await workbench.tab(/generated tests pass/).waitFor({ state: 'detached' });
      assert.ok(!existsSync(file));
      await workbench.lens('Generate tests').click();
      await workbench.tab(/3 of 3 generated tests pass/).waitFor();
      await titleAction(workbench, 'Accept Generated Tests').click();
      await workbench.tab(/generated tests pass/).waitFor({ state: 'detached' });
      await workbench.line('def test_cheapest_of_two').waitFor();
      assert.match(readFileSync(file, 'utf8'), /def test_cheapest_of_two/);
      await workbench.page.locator('.testing-run-glyph.codicon-testing-passed-icon').nth(2).waitFor();
      await workbench.picture('preview-2-accepted');
    },
  );
});

/** Action in the title bar of the active editor. */
function titleAction(workbench: Workbench, title: string): Locator {
  return workbench.page.locator(`.editor-actions .action-label[aria-label^="${title}"]:visible`);
}

/** Recorded tests for the function without any. */
const reply = {
  node: 'prices.py::cheapest',
  stage: 'write_tests',
  attempt: 0,
  reply: `\`\`\`python
from prices import cheapest


def test_cheapest_of_one():
    assert cheapest([3]) == 3


def test_cheapest_of_two():
    assert cheapest([3, 2]) == 2


def test_cheapest_of_equal():
    assert cheapest([1, 1]) == 1
\`\`\`
`,
};

/** Adds a function that no test names. */
function addUntested(root: string): void {
  const file = join(root, 'prices.py');
  const text = 'def cheapest(prices):\n    """The lowest of all prices."""\n    return min(prices)\n';
  write(file, `${readFileSync(file, 'utf8')}\n\n${text}`);
}

/** Runs the passing test, then the failing one. */
async function runBoth(workbench: Workbench): Promise<void> {
  await workbench.lens(/^Run$/).nth(0).click();
  await workbench.lens('✓').waitFor();
  await workbench.lens(/^Run$/).nth(1).click();
  await workbench.lens('✗').waitFor();
}
