// From a failing function to the review of its fix.
import type { Session } from '../lane/session';
import { away, Camera, click, PAGE, toggleSideBar } from './camera';
import { shop } from './shop';

export async function fixes({ server, workbench }: Session): Promise<void> {
  const camera = await Camera.opened(workbench, shop(server.scratch.root));
  await camera.look(PAGE);
  await workbench.openFile('shop/cart.py');
  await workbench.lens(/^Run$/).nth(1).waitFor();
  await workbench.command('Test: Run All Tests');
  await workbench.lens('✓ passed').waitFor();
  await workbench.lens('✗ 1 of 3 failed').waitFor();
  await testingView({ server, workbench }, camera);
  await toggleSideBar(workbench);
  await peek({ server, workbench }, camera);
  await workbench.openFile('shop/cart.py');
  await click(workbench, workbench.lens('Fix…'));
  await workbench.tab('cart.py (fix-1)').waitFor();
  await workbench.lens('Accept hunk').nth(1).waitFor();
  await workbench.command('Trellis: Open Failing Test');
  await workbench.line('def test_at_limit').first().waitFor();
  await click(workbench, workbench.tab('cart.py (fix-1)'));
  await camera.page('fix', { width: 1240, height: 560 });
  await workbench.command('View: Close Editors in Other Groups');
  await away(workbench);
  await camera.step('review');
}

/** The mouse is over the failed test, so that its actions are there. */
async function testingView({ workbench }: Session, camera: Camera): Promise<void> {
  await workbench.command('Testing: Focus on Test Explorer View');
  for (const it of ['shop', 'tests', 'test_cart.py']) await workbench.expand(workbench.testParent(it));
  const red = workbench.testItem('test_at_limit', 'Failed').first();
  await red.click();
  await red.hover();
  await red.getByLabel('Fix Failing Test').waitFor();
  await camera.page('tests');
}

/** The failure in the editor's peek. */
async function peek({ workbench }: Session, camera: Camera): Promise<void> {
  await workbench.openFile('shop/cart.py');
  await click(workbench, workbench.lens('✗ 1 of 3 failed'));
  const shown = workbench.page.locator('.peekview-widget');
  await shown.waitFor();
  await workbench.page.getByText('Fix Failing Test', { exact: true }).first().waitFor();
  await camera.step('repair');
  await workbench.page.keyboard.press('Escape');
  await shown.waitFor({ state: 'detached' });
  await workbench.command('View: Close Editor');
}
