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
  await camera.step('model');
  await workbench.page.keyboard.press('Escape');
  await workbench.command('Preferences: Open Settings (UI)');
  await workbench.page.locator('.settings-editor .suggest-input-container').click();
  await workbench.page.keyboard.type('trellis.budget');
  await workbench.page.locator('.setting-item').nth(2).waitFor();
  await camera.step('control');
}
