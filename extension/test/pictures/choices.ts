// Choices of the person: the model, and limits.
import type { Session } from '../lane/session';
import { Camera, STEP, toggleSideBar } from './camera';
import { second, shop } from './shop';

export async function choices({ server, workbench }: Session): Promise<void> {
  const camera = await Camera.opened(workbench, shop(server.scratch.root, second));
  await camera.look(STEP);
  await workbench.openFile('shop/rates.py');
  await workbench.lens('Generate tests').first().waitFor();
  await toggleSideBar(workbench);
  await workbench.command('Trellis: Select Model');
  await workbench.option('Anthropic').waitFor();
  await camera.step('model', { width: 640, height: 700, cut: 430 });
  await workbench.page.keyboard.press('Escape');
  await workbench.command('Trellis: Set Spending Limit');
  await workbench.page.locator('.setting-item').first().waitFor();
  // Editors of people have no such machine.
  const machine = workbench.page
    .locator('.settings-tabs-widget .action-item')
    .filter({ hasText: 'Remote [' });
  await machine.evaluate((it) => it.remove());
  const limit = workbench.page.locator('.setting-item input').first();
  await limit.fill('5');
  await workbench.page
    .locator('.settings-editor .search-container input, .settings-editor .suggest-input-container')
    .first()
    .click();
  await workbench.page.keyboard.press('End');
  await camera.step('control', { width: 640, height: 600, cut: 540 });
}
