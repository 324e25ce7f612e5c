// A finished run: its nodes and the page of the planning graph.
import { planned, recorded } from '../lane/fixture';
import { limits } from '../lane/patience';
import type { Session } from '../lane/session';
import { away, Camera, toggleSideBar } from './camera';

const WINDOW = { width: 1280, height: 800 };

export const graphSettings = { 'trellis.model': recorded, 'trellis.jobs': 2, 'trellis.budget.usd': 5 };

export async function graph({ server, workbench }: Session): Promise<void> {
  const camera = await Camera.opened(workbench, planned(server.scratch.root));
  await camera.look(WINDOW);
  await workbench.activity('Trellis');
  await workbench.button('Generate Repository from Graph…').click();
  await workbench.answerGenerate('rpg.json');
  await workbench.page
    .locator('.sidebar .tree-explorer-viewlet-tree-view .message')
    .filter({ hasText: /^44\/50 passed, 2 failed, 4 skipped/ })
    .waitFor({ timeout: limits.generation });
  // The last test run is over.
  await workbench.page.locator('.sidebar a[aria-label^="Pause Run"]').first().waitFor({ state: 'detached' });
  await workbench.command('Trellis: Show Planning Graph');
  await workbench.webview().locator('.labels .box.open').filter({ hasText: 'passed' }).nth(4).waitFor();
  await away(workbench);
  await camera.page('graph', WINDOW);
  await toggleSideBar(workbench);
  await away(workbench);
  await camera.step('build', { width: 990, height: 660 });
}
