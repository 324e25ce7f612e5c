// Plans before their run: problems in the file, the picture of 500 nodes with its estimate, and the way to a run.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FrameLocator } from 'playwright-core';
import { plannedLarge, recorded, subgraphs } from '../lane/fixture';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

const settings = { 'trellis.model': recorded, 'trellis.sandbox': 'local' };

const BROKEN = `{
  "nodes": [
    {
      "id": "lib.double",
      "name": "double",
      "type": "function",
      "file_path": "src/lib/numbers.py",
      "docstring": "Double.",
      "dependencies": ["gone"]
    }
  ],
  "edges": []
}
`;

test('a plan that was never run has its problems, its picture and its price', async () => {
  await withSession('plans', { settings }, async (session) => {
    const folder = plannedLarge(session.server.scratch.root);
    write(join(folder, 'small_rpg.json'), BROKEN);
    await session.workbench.open(folder);
    await showsProblems(session);
    await showsPicture(session);
    await finds(session);
    await filters(session);
    await looksRight(session, folder);
    await starts(session);
  });
});

/** Problems are marked at their node while a person types. */
async function showsProblems({ workbench }: Session): Promise<void> {
  await workbench.openFile('small_rpg.json');
  const mark = workbench.page.locator('.squiggly-error').first();
  await mark.waitFor();
  await workbench.picture('plans-1-problem');
  await workbench.line('"gone"').click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.press('Shift+Home');
  await workbench.page.keyboard.press('Delete');
  // At once: the editor would add brackets and quotes to typed ones.
  await workbench.page.keyboard.insertText('"dependencies": []');
  await mark.waitFor({ state: 'detached' });
  await workbench.command('File: Revert File');
  await mark.waitFor();
  // A plan with problems has a picture, but cannot be generated.
  await workbench.lens('Show Planning Graph').click();
  const page = workbench.webview();
  await page.getByRole('button', { name: '1 problem' }).waitFor();
  assert.ok(await page.locator('#generate').isDisabled());
  await page.getByRole('button', { name: '1 problem' }).click();
  await workbench.page.locator('.markers-panel').getByText('which is not in the plan').first().waitFor();
  await workbench.command('View: Toggle Panel');
  await workbench.command('View: Close All Editors');
}

/** Ten closed boxes with names and counts fill the page; a plan says what it probably costs. */
async function showsPicture({ workbench }: Session): Promise<void> {
  await workbench.openFile('rpg.json');
  await workbench.lens('Show Planning Graph').click();
  const page = workbench.webview();
  await page
    .locator('#summary')
    .filter({ hasText: /^500 nodes in 10 subgraphs · \d+ levels/ })
    .waitFor();
  await page
    .locator('#summary')
    .filter({ hasText: /about 1000–1750 requests, .*tokens/ })
    .waitFor();
  for (const name of subgraphs) await box(page, name).filter({ hasText: '50 nodes' }).waitFor();
  await workbench.picture('plans-2-boxes');
  await box(page, 'cleaning').click();
  await page.locator('.labels .box.open').filter({ hasText: 'cleaning' }).waitFor();
  await page.locator('.labels .name').filter({ hasText: 'cleaning_step_' }).first().waitFor();
  await workbench.picture('plans-3-one-open');
}

/** Typing alone goes to a node, in whatever box it is. */
async function finds({ workbench }: Session): Promise<void> {
  const page = workbench.webview();
  await page.locator('#find').focus();
  await workbench.page.keyboard.type('models_step_1');
  await page.locator('#found').filter({ hasText: '1 of 10' }).waitFor();
  await page
    .locator('#said')
    .filter({ hasText: /^models_step_10, pending, subgraph models/ })
    .waitFor();
  await page.locator('.labels .sure').filter({ hasText: 'models_step_10' }).waitFor();
  await workbench.page.keyboard.press('Enter');
  await page
    .locator('#said')
    .filter({ hasText: /^models_step_11,/ })
    .waitFor();
  await workbench.picture('plans-4-found');
  await workbench.page.keyboard.press('Escape');
  await workbench.page.keyboard.press('Escape');
  await page
    .locator('#said')
    .filter({ hasText: /^models, subgraph, 50 nodes/ })
    .waitFor();
}

/** A click on a status of the legend shows its nodes alone. */
async function filters({ workbench }: Session): Promise<void> {
  const page = workbench.webview();
  const passed = page.locator('#legend button').filter({ hasText: 'passed' });
  const pending = page.locator('#legend button').filter({ hasText: 'pending' });
  await pending.filter({ hasText: '500' }).waitFor();
  await page.locator('.labels .name').first().waitFor();
  await passed.click();
  assert.equal(await pending.getAttribute('aria-pressed'), 'false');
  await page.locator('.labels .name:not(.sure)').first().waitFor({ state: 'detached' });
  await passed.click();
  assert.equal(await pending.getAttribute('aria-pressed'), 'true');
  await page.locator('.labels .name').first().waitFor();
}

/** The picture fits after a change of size, and in every theme. */
async function looksRight({ workbench }: Session, folder: string): Promise<void> {
  const page = workbench.webview();
  await page.locator('#toggle').click();
  await page.locator('.labels .box.open').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Longest Chain' }).click();
  await workbench.command('View: Split Editor Right');
  for (const name of subgraphs) await box(page, name).waitFor();
  await isInside(page);
  await workbench.picture('plans-5-narrow');
  await workbench.command('View: Toggle Primary Side Bar Visibility');
  await isInside(page);
  await workbench.pictures('plans-6', folder, settings);
  await isInside(page);
}

/** The button asks for the folder and starts the run. */
async function starts({ workbench }: Session): Promise<void> {
  await workbench.webview().locator('#generate').click();
  await workbench.page
    .locator('.quick-input-widget:visible')
    .filter({ hasText: 'Generate the repository in which folder?' })
    .waitFor();
  await workbench.page.keyboard.press('Escape');
}

function box(page: FrameLocator, name: string) {
  return page.locator('.labels .box').filter({ hasText: name });
}

/** Waits until every box lies inside the page. */
async function isInside(page: FrameLocator): Promise<void> {
  await page.locator('#graph').evaluate(async (graph) => {
    const isCut = () => {
      const outer = graph.getBoundingClientRect();
      const all = [...graph.querySelectorAll('.labels .box')].map((it) => it.getBoundingClientRect());
      return all.length < 10 || all.some((it) => it.left < outer.left || it.right > outer.right + 1);
    };
    while (isCut()) await new Promise(requestAnimationFrame);
  });
}
