// What waits for the person: fixes of several causes, and generated tests.
import type { Session } from '../lane/session';
import { away, Camera, click, PAGE, toggleSideBar, widenSideBar } from './camera';
import { second, shop } from './shop';

export async function waits({ server, workbench }: Session): Promise<void> {
  const camera = await Camera.opened(workbench, shop(server.scratch.root, second));
  await camera.look(PAGE);
  await workbench.openFile('shop/rates.py');
  await workbench.lens('Generate tests').first().waitFor();
  await workbench.activity('Trellis');
  await workbench.page.getByText('No run yet.').waitFor();
  await workbench.command('Trellis: Repair Failing Tests');
  for (const it of ['cart.py', 'rates.py']) await workbench.treeItem(it).waitFor();
  await click(workbench, workbench.lens('Generate tests').first());
  await workbench.tab('test_rates.py (tests for tax)').waitFor();
  await workbench.line('test_cents').first().waitFor();
  await workbench.treeItem('Tests for tax').waitFor();
  await widenSideBar(workbench, 130);
  await away(workbench);
  await camera.page('waits', { width: 1120, height: 560 });
  await toggleSideBar(workbench);
  await workbench.command('View: Move Editor into Group Below');
  await workbench.lens('Generate tests').first().waitFor();
  await away(workbench);
  await camera.step('tests', { width: 640, height: 640 });
}
