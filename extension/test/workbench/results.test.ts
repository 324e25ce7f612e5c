// Results in the Testing view: of tests that did not run, of files that cannot be read, of code that has changed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const settings = { 'trellis.sandbox': 'local' };

test('a result stays until its test runs again, and is dimmed when the code changes', async () => {
  await withSession('results', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    // Plain pytest excludes the tests of the project.
    write(join(root, 'pyproject.toml'), '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n');
    write(join(root, 'tests', 'test_sum.py'), 'def test_sum():\n    assert sum([1, 2]) == 3\n');
    await workbench.open(root);
    await workbench.openFile('test_prices.py');
    await workbench.lens(/^Run$/).nth(1).waitFor();
    await workbench.watches(root, 'prices.py');
    await workbench.lens(/^Run$/).nth(1).click();
    await workbench.lens('✗').waitFor();
    await workbench.command('Testing: Focus on Test Explorer View');
    for (const it of ['shop', 'test_prices.py']) await workbench.expand(workbench.testParent(it));
    await workbench.testItem('test_discounted', 'Failed').waitFor();
    await excludeFailedTest(workbench);
    await breakFile(workbench, root);
    await changeCode(workbench, root);
  });
});

/** A run that excludes a failed test keeps its result. */
async function excludeFailedTest(workbench: Workbench): Promise<void> {
  await workbench.command('Test: Run All Tests');
  for (const it of ['tests', 'test_sum.py']) await workbench.expand(workbench.testParent(it));
  await workbench.testItem('test_sum', 'Passed').waitFor();
  await workbench.testItem('test_discounted', 'Failed').waitFor();
  await workbench.picture('results-1-left-out');
}

/** A file that cannot be imported fails, and the others run. */
async function breakFile(workbench: Workbench, root: string): Promise<void> {
  write(join(root, 'tests', 'test_broken.py'), 'import no_such_module\n');
  await workbench.command('Test: Run All Tests');
  await workbench.testItem('test_broken.py', 'Errored').waitFor();
  for (const [name, state] of [
    ['test_sum', 'Passed'],
    ['test_discounted', 'Failed'],
  ] as const)
    await workbench.testItem(name, state).waitFor();
  await workbench.picture('results-2-broken');
}

/** Results from before a change of the code are dimmed. */
async function changeCode(workbench: Workbench, root: string): Promise<void> {
  const dimmed = workbench.testItem('test_sum', 'Passed').locator('.computed-state.retired');
  assert.equal(await dimmed.count(), 0);
  const file = join(root, 'prices.py');
  write(file, readFileSync(file, 'utf8').replace('return sum(prices)', 'return sum(prices) + 1'));
  await dimmed.waitFor();
  await workbench.lens('✓ passed before your change').waitFor();
  await workbench.lens('✗ failed before your change').waitFor();
  await workbench.picture('results-3-outdated');
}
