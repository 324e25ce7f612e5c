// The walkthrough shows its pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { project } from '../lane/project';
import { withSession } from '../lane/session';
import { THEMES, type Workbench } from '../lane/workbench';

const STEPS = ['tests', 'model', 'repair', 'review', 'build', 'control'];
const settings = { 'workbench.secondarySideBar.defaultVisibility': 'hidden' };

test('every step of the walkthrough shows a picture of the kind of theme', async () => {
  await withSession('pictures', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    await workbench.open(root);
    await workbench.command('View: Toggle Primary Side Bar Visibility');
    await workbench.command('Trellis: Get Started');
    for (const step of STEPS) {
      const row = workbench.page.locator(`.getting-started-step[data-step-id$="#${step}"]`);
      await row.waitFor();
      if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
      await shows(workbench, `step-${step}-light.png`);
      await workbench.picture(`pictures-${step}`);
    }
    for (const [theme, name] of Object.entries({
      'vs-dark': 'dark',
      'hc-black': 'hc',
      'hc-light': 'hc-light',
    })) {
      for (const it of THEMES.filter(([, kind]) => kind === theme)) await workbench.theme(it, root, {});
      await shows(workbench, `step-control-${name}.png`);
    }
  });
});

/** Waits until the open step shows a picture. */
async function shows({ page }: Workbench, name: string): Promise<void> {
  const picture = page.locator(`.getting-started-media img[srcset*="${name}"]`);
  await picture.waitFor();
  await isLoaded(picture);
  assert.notEqual(await picture.getAttribute('alt'), '');
}

/** Waits until the pixels of a picture are there. */
async function isLoaded(picture: Locator): Promise<void> {
  await picture.evaluate(async (it: HTMLImageElement) => await it.decode());
}
