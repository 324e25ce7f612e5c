// The tree of nodes and the page of the graph before, during and after a run.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FrameLocator, Locator } from 'playwright-core';
import { endings, plannedPart, recorded } from '../lane/fixture';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const settings = {
  'trellis.model': recorded,
  'trellis.sandbox': 'local',
  'trellis.jobs': 2,
  'trellis.budget.usd': 5,
};
const PART = ['data', 'preprocessing'];
const { passed = 0, failed = 0, skipped = 0 } = endings(PART);
const total = passed + failed + skipped;
const ALL_DONE = `${passed}/${total} passed, ${failed} failed, ${skipped} skipped`;
const OTHER = [
  ['wash', []],
  ['dry', ['wash']],
].map(([id, dependencies]) => ({
  id,
  name: id,
  type: 'function',
  node_type: 'leaf',
  file_path: `src/lib/${id}.py`,
  signature: `def ${id}(x: int) -> int`,
  docstring: 'One more than x.',
  dependencies,
  subgraph_id: 'laundry',
}));
const LONG = { timeout: limits.generation };

test('the tree of nodes and the page of the graph follow a run', async () => {
  await withSession('nodes', { settings }, async (session) => {
    const folder = plannedPart(session.server.scratch.root, PART);
    await showsWelcome(session, folder);
    await showsRun(session);
    await useTree(session, folder);
    await useGraph(session);
    await showOtherPlan(session, folder);
    await deleteRun(session, folder);
  });
});

async function showsWelcome({ workbench }: Session, folder: string): Promise<void> {
  await workbench.open(folder);
  await workbench.activity('Trellis');
  const generate = workbench.button('Generate Repository from Graph…');
  await generate.waitFor();
  // There is no view of proposals before the first one.
  assert.equal(await workbench.page.locator('.sidebar .pane').count(), 1);
  await workbench.picture('nodes-1-welcome');
  await generate.click();
  await workbench.answerGenerate('rpg.json');
}

/** Groups appear during the run, then everything is settled. */
async function showsRun({ workbench }: Session): Promise<void> {
  await workbench
    .treeItem(/passed, \d+ running/)
    .first()
    .waitFor();
  // The cost is shown during the run.
  await title(workbench, /passed, .*\d+ running · \$0\.00 of \$5\.00, [\d.]+k tokens$/).waitFor();
  await workbench.statusItem('trellis.run').locator('[aria-label*="k tokens"]').waitFor();
  await workbench.command('Trellis: Show Planning Graph');
  await workbench.webview().locator('canvas').first().waitFor();
  await workbench.picture('nodes-2-under-way');
  // Everything is settled before the last test run; its message is shown for some seconds.
  await Promise.all([
    title(workbench, ALL_DONE).waitFor(LONG),
    workbench.notification('output from rpg.json is done').waitFor(LONG),
  ]);
  await workbench.picture('nodes-3-done');
}

/** A failed node is found with its reason, and retried; a passed one is opened with its tests. */
async function useTree({ workbench }: Session, folder: string): Promise<void> {
  await workbench.command('Trellis: Filter Nodes by Status');
  for (const state of ['running', 'skipped', 'pending', 'passed']) {
    await workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: state }).click();
  }
  await workbench.input().press('Enter');
  const nodes = workbench.page.locator('[aria-level="2"]');
  const rows = workbench.treeItem(/failed$/).and(nodes);
  await workbench
    .treeItem(/passed$/)
    .and(nodes)
    .first()
    .waitFor({ state: 'detached' });
  await rows.nth(failed - 1).waitFor();
  assert.equal(await rows.count(), failed, 'nothing else is shown');
  await workbench.expand(rows.first());
  await workbench.page.locator('.sidebar [role="treeitem"][aria-level="3"]').first().waitFor();
  await workbench.picture('nodes-4-failed-with-reason');
  await useFailedNode(workbench, folder);
  await workbench.command('Trellis: Show All Nodes');
  await title(workbench, ALL_DONE).waitFor();
  const good = workbench
    .treeItem(/passed$/)
    .and(workbench.page.locator('[aria-level="2"]'))
    .first();
  await good.click();
  await workbench.editor().waitFor();
  await good.hover();
  await good.locator('[aria-label^="Open Node\'s Tests"]').click();
  await workbench.tab(/test_/).waitFor();
  await workbench.picture('nodes-5-tests');
  assert.ok(existsSync(join(folder, 'output', 'docs', 'generation_checkpoint.json')));
}

/** A click on a failed node opens its page, which leads to the test, the specification and a retry. */
async function useFailedNode(workbench: Workbench, folder: string): Promise<void> {
  await workbench
    .treeItem(/^quantile/)
    .first()
    .click();
  const page = workbench.webview();
  await page.getByRole('heading', { name: 'quantile' }).waitFor();
  await page.getByRole('heading', { name: '9 attempts' }).waitFor();
  assert.equal(await workbench.notification('quantile').count(), 0, 'a click is no error');
  await page.locator('.attempts summary').filter({ hasText: 'Fix 1' }).click();
  await page.locator('.attempts details[open] .removed').first().waitFor();
  await page.locator('section').filter({ hasText: 'Blocks' }).getByText('describe').waitFor();
  await tabThrough(workbench);
  await workbench.pictures('nodes-4-failed-page', folder, {});
  await page.locator('section').filter({ hasText: 'Failing test' }).locator('button').focus();
  await page.locator(':focus').press('Enter');
  await workbench.tab(/test_\w+\.py/).waitFor();
  await workbench.line('def test_').first().waitFor();
  await workbench.picture('nodes-4-failing-test');
  await page.getByRole('button', { name: 'Edit the Specification' }).click();
  await workbench.tab('rpg.json').waitFor();
  await workbench.line('"data.quantile"').first().waitFor();
  await workbench.command('View: Close All Editors');
  await workbench
    .treeItem(/^quantile/)
    .first()
    .click();
  await workbench.webview().getByRole('button', { name: 'Retry with Another Model…' }).click();
  await workbench.option('GitHub Copilot').waitFor();
  await workbench.page.keyboard.press('Escape');
  await workbench.webview().getByRole('button', { name: 'Retry', exact: true }).click();
  // The page follows the retry.
  await workbench.webview().locator('#status').filter({ hasText: 'running' }).waitFor();
  await workbench.notification('data.quantile in output failed again').waitFor(LONG);
  await workbench.webview().locator('#status').filter({ hasText: 'failed' }).waitFor();
}

/** Tab reaches everything that can be used on a page, and shows the focus. */
async function tabThrough(workbench: Workbench): Promise<void> {
  const page = workbench.webview();
  const usable = await page
    .locator('button:enabled:visible, summary:visible, pre[tabindex="0"]:visible')
    .count();
  await page.getByRole('heading', { level: 1 }).click();
  const reached = new Set<string>();
  for (let at = 0; at < usable; at += 1) {
    await workbench.page.keyboard.press('Tab');
    const [outline, text] = await page.locator(':focus').evaluate((it) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(it);
      const place = [...document.querySelectorAll('*')].indexOf(it);
      return [`${outlineWidth} ${outlineStyle}`, `${place} ${it.textContent}`];
    });
    assert.equal(outline, '2px solid', text);
    reached.add(text ?? '');
  }
  assert.equal(reached.size, usable, [...reached].join('\n'));
  // For the pictures.
  await page.getByRole('button', { name: 'Retry', exact: true }).focus();
}

/** Every node can be selected and opened with the keyboard, and its status is announced. */
async function useGraph({ workbench }: Session): Promise<void> {
  // A picture for the README, without notifications.
  await workbench.command('Notifications: Clear All Notifications');
  await workbench.command('Trellis: Show Planning Graph');
  const page = workbench.webview();
  const said = page.locator('#said');
  await page.locator('.labels .box.open').filter({ hasText: 'passed' }).nth(1).waitFor();
  await workbench.picture('nodes-6-graph');
  await page.locator('#find').fill('quantile');
  await page.locator('#find').press('Enter');
  await said.filter({ hasText: /quantile, failed, subgraph/ }).waitFor();
  await page.locator('#graph').press('ArrowRight');
  await said.filter({ hasNotText: 'quantile, ' }).waitFor();
  await workbench.picture('nodes-6-graph-light');
  await workbench.command('Preferences: Toggle between Light/Dark Themes');
  await workbench.page.locator('.monaco-workbench.vs-dark').waitFor();
  await workbench.picture('nodes-7-graph-dark');
  // A node without code shows its page.
  await page.locator('#graph').press('Enter');
  await workbench.webview().getByRole('heading', { name: 'Why it was skipped' }).waitFor();
  await workbench.command('Trellis: Show Planning Graph');
  await said.filter({ hasText: /describe, skipped, subgraph/ }).waitFor();
  await page.locator('#find').fill('median');
  await said.filter({ hasText: /median, passed, subgraph/ }).waitFor();
  const far = await dots(page);
  await page.locator('#graph').hover();
  await workbench.page.mouse.wheel(0, -200);
  await untilDots(page, (now) => now !== far);
  const near = await dots(page);
  await page.locator('#graph').press('Enter');
  await workbench.editor().waitFor();
  await workbench.command('Trellis: Show Planning Graph');
  // The page is restored as it was.
  await untilDots(page, (now) => now === near);
  await said.filter({ hasText: /, passed, subgraph/ }).waitFor();
  // Errors of the generated repository's tests are no problems of the outer folder.
  await workbench.page.locator('.statusbar [aria-label="No Problems"]').first().waitFor();
}

/** The keyboard works in the graph of another plan; *Select Run* shows the run again. */
async function showOtherPlan({ workbench }: Session, folder: string): Promise<void> {
  const page = workbench.webview();
  const said = page.locator('#said');
  await page.locator('#find').fill('quantile');
  await said.filter({ hasText: /^quantile, failed/ }).waitFor();
  await page.locator('#graph').focus();
  write(join(folder, 'other_plan.json'), JSON.stringify({ nodes: OTHER, edges: [] }));
  // The graph beside the file keeps the focus while the plan in it changes.
  await workbench.command('View: Split Editor Right');
  await workbench.openFile('other_plan.json');
  await workbench.lens('Show Planning Graph').click();
  await page
    .locator('#summary')
    .filter({ hasText: /^2 nodes in 1 subgraph ·/ })
    .waitFor();
  await page.locator('#found').filter({ hasText: 'of' }).waitFor({ state: 'detached' });
  await page.locator('#graph').focus();
  await said.filter({ hasText: /^wash, pending/ }).waitFor();
  await workbench.page.keyboard.press('ArrowRight');
  await said.filter({ hasText: /^dry, pending/ }).waitFor();
  await page.locator('#find').fill('was');
  await said.filter({ hasText: /^wash, pending/ }).waitFor();
  await workbench.picture('nodes-8-other-plan');
  await workbench.command('Trellis: Select Run');
  await workbench.option('output').first().click();
  await page.locator('#plan').waitFor({ state: 'hidden' });
  await page.locator('.labels .box').filter({ hasText: 'passed' }).first().waitFor();
  await page.locator('#find').fill('quantile');
  await said.filter({ hasText: /^quantile, failed/ }).waitFor();
}

/** A run whose folder is deleted disappears, and the view shows its welcome again. */
async function deleteRun({ workbench }: Session, folder: string): Promise<void> {
  await workbench.activity('Trellis');
  await workbench
    .treeItem(/passed/)
    .first()
    .waitFor();
  rmSync(join(folder, 'output'), { recursive: true });
  await workbench.button('Generate Repository from Graph…').waitFor();
  await workbench.picture('nodes-9-deleted');
}

/** The counts above the tree. */
function title(workbench: Workbench, counts: string | RegExp): Locator {
  return workbench.page
    .locator('.sidebar .tree-explorer-viewlet-tree-view .message')
    .filter({ hasText: counts });
}

/** Reads the canvas with the statuses. */
async function dots(page: FrameLocator): Promise<string> {
  return await page.locator('canvas.dots').evaluate((it: HTMLCanvasElement) => it.toDataURL());
}

/** Waits until the canvas shows what is wanted. */
async function untilDots(page: FrameLocator, isWanted: (shown: string) => boolean): Promise<void> {
  const end = Date.now() + limits.page;
  while (!isWanted(await dots(page))) {
    assert.ok(Date.now() < end, 'the picture does not come to show what is wanted');
    await page.locator('body').evaluate(() => new Promise(requestAnimationFrame));
  }
}
