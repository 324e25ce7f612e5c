// Failing tests are repaired from the palette, and the editor shows what came of it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { sitting } from '../lane/session';

const search = '    return price - percent';
const fixed = '    return price * (100 - percent) / 100';
const reply = `prices.py\n<<<<<<< SEARCH\n${search}\n=======\n${fixed}\n>>>>>>> REPLACE\n`;
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(
  replies,
  `${JSON.stringify({ node: 'test_prices.py::test_discounted', stage: 'repair', attempt: 0, reply })}\n`,
);
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = { 'trellis.model': `recorded:${replies}`, 'trellis.sandbox': 'local' };

test('failing tests are repaired', async () => {
  await sitting('repair', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    await workbench.open(root);
    await workbench.openFile('test_prices.py');
    await workbench.lens(/^Run$/).first().waitFor();
    await workbench.command('Trellis: Repair Failing Tests');
    const said = workbench.notification('Repaired: 2 tests pass, 0 fail');
    await workbench.hold(said);
    assert.ok(readFileSync(join(root, 'prices.py'), 'utf8').includes(fixed));
    await workbench.lens('✓').waitFor();
    await workbench.picture('repair-done');
    await said.locator(workbench.button('Show Report')).click();
    await workbench.tab('report.md').waitFor();
  });
});
