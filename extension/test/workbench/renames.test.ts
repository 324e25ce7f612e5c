// Renames with places that only a person can decide on.
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';

test('a rename shows doubtful places in a preview, not selected, and changes the others', async () => {
  await withSession('renames', {}, async ({ server, workbench }) => {
    const folder = project(server.scratch.root);
    const file = join(folder, 'cart.py');
    write(
      file,
      'class Cart:\n    def total(self): ...\n\n\ndef show(it):\n    it.total()\n\n\nCart().total()\n',
    );
    await workbench.open(folder);
    await workbench.openFile('cart.py');
    await workbench.lens('Generate tests').first().waitFor();
    await workbench.line('def total').getByText('total').click();
    await workbench.page.keyboard.press('F2');
    await workbench.page.locator('.rename-box input').fill('grand_total');
    await workbench.page.keyboard.press('Enter');
    await workbench.button('Apply').waitFor();
    await workbench.picture('rename-preview');
    await workbench.button('Apply').click();
    for (const it of ['def grand_total', 'it.total()', 'Cart().grand_total()'])
      await workbench.line(it).first().waitFor();
  });
});
