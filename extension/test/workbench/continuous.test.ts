// Continuous runs: marks follow each save, without a click.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const settings = { 'trellis.sandbox': 'local', 'trellis.testTimeout': 900 };

test('each save runs the tests that it affects, until the run is switched off', async () => {
  await withSession('continuous', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    await workbench.open(root);
    await workbench.openFile('prices.py');
    await switchOn(workbench);
    await editAndSave(workbench, root);
    await breakSyntax(workbench);
    await supersede(workbench);
    await switchOff(workbench);
  });
});

/** The button of the Testing view; tests that have never run do so at once. */
async function switchOn(workbench: Workbench): Promise<void> {
  await workbench.command('Testing: Focus on Test Explorer View');
  await workbench.testParent('shop').waitFor();
  await button(workbench, 'Start Continuous Run').click();
  await workbench.expand(workbench.testParent('shop'));
  await workbench.expand(workbench.testParent('test_prices.py'));
  await workbench.testItem('test_total', 'Passed').waitFor();
  await workbench.testItem('test_discounted', 'Failed').waitFor();
  await workbench.picture('continuous-1-on');
}

/** A function is repaired, another broken and repaired; the other test keeps its fresh result. */
async function editAndSave(workbench: Workbench, root: string): Promise<void> {
  await addAndSave(workbench, 'return price - percent', ' * price / 100');
  await workbench.testItem('test_discounted', 'Passed').waitFor();
  await addAndSave(workbench, 'return sum(prices)', ' + 1');
  await workbench.testItem('test_total', 'Failed').waitFor();
  assert.equal(await retired(workbench, 'test_discounted', 'Passed').count(), 0);
  await workbench.picture('continuous-2-broken');
  await takeBack(workbench, ' + 1'.length);
  await workbench.testItem('test_total', 'Passed').waitFor();
  await workbench.openFile('test_prices.py');
  // No change since then affects the other test.
  await workbench
    .lens(/^✓ passed$/)
    .nth(1)
    .waitFor();
  await workbench.picture('continuous-3-repaired');
  await workbench.tab(/^prices\.py$/).click();
  // Another tool writes a test.
  write(
    join(root, 'test_more.py'),
    'from prices import total\n\n\ndef test_more():\n    assert total([]) == 0\n',
  );
  await workbench.expand(workbench.testParent('test_more.py'));
  await workbench.testItem('test_more', 'Passed').waitFor();
}

/** A syntax error is named, and paints nothing red. */
async function breakSyntax(workbench: Workbench): Promise<void> {
  await addAndSave(workbench, 'return sum(prices)', ' +');
  await retired(workbench, 'test_total', 'Passed').waitFor();
  await workbench.testParent('syntax error in prices.py, line 6').waitFor();
  assert.equal(await workbench.testItem('test_', 'Failed').count(), 0);
  await workbench.picture('continuous-4-syntax');
  await takeBack(workbench, ' +'.length);
  await retired(workbench, 'test_total', 'Passed').waitFor({ state: 'detached' });
}

/** A run that would take minutes ends when the next change is saved. */
async function supersede(workbench: Workbench): Promise<void> {
  const slow = ' + __import__("time").sleep(600)';
  await addAndSave(workbench, 'return sum(prices)', slow);
  await spinner(workbench).waitFor();
  await takeBack(workbench, slow.length);
  await spinner(workbench).waitFor({ state: 'detached' });
  await workbench.testItem('test_total', 'Passed').waitFor();
}

async function switchOff(workbench: Workbench): Promise<void> {
  await button(workbench, 'Stop Continuous Run').click();
  await addAndSave(workbench, 'return sum(prices)', ' + 1');
  await retired(workbench, 'test_total', 'Passed').waitFor();
  await workbench.picture('continuous-5-off');
}

/** Adds text at the end of a line, and saves. */
async function addAndSave(workbench: Workbench, line: string, text: string): Promise<void> {
  await workbench.typeAfter(line, text);
  await workbench.page.keyboard.press('Control+S');
}

/** Removes characters before the caret, and saves. */
async function takeBack(workbench: Workbench, characters: number): Promise<void> {
  for (let it = 0; it < characters; it += 1) await workbench.page.keyboard.press('Backspace');
  await workbench.page.keyboard.press('Control+S');
}

/** Button in the title of the Testing view. */
function button(workbench: Workbench, name: string) {
  return workbench.page.locator(`.sidebar a.action-label[aria-label^="${name}"]`).first();
}

/** Dimmed result of a test. */
function retired(workbench: Workbench, name: string, state: string) {
  return workbench.testItem(name, state).locator('.computed-state.retired');
}

/** Sign of running tests above the tree. */
function spinner(workbench: Workbench) {
  return workbench.page.locator(
    '.test-explorer .result-summary .codicon-loading, .test-explorer .codicon-modifier-spin',
  );
}
