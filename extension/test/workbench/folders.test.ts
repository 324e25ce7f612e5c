// A workspace of several folders: every action finds, or asks for, the folder that is meant.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '../lane/patience';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const leaf = {
  id: 'double',
  name: 'double',
  type: 'function',
  node_type: 'leaf',
  file_path: 'src/lib/double.py',
  signature: 'def double(x: int) -> int',
  docstring: 'Twice x.',
  dependencies: [],
  subgraph_id: 'lib',
};

const reply = (stage: string, ...lines: string[]) =>
  JSON.stringify({ node: 'double', stage, attempt: 0, reply: ['```python', ...lines, '```'].join('\n') });

const replies = [
  reply(
    'tests',
    'from lib.double import double',
    ...[0, 1, 2].flatMap((it) => ['', '', `def test_of_${it}():`, `    assert double(${it}) == ${it * 2}`]),
  ),
  reply('implementation', 'def double(x: int) -> int:', '    return 2 * x'),
];

test('a run generates in one of two folders, and tests run in the other and in a new one', async () => {
  await withSession(
    'folders',
    { settings: { 'trellis.sandbox': 'local' } },
    async ({ server, workbench }) => {
      const below = server.scratch.root;
      const plans = planFolder(below);
      const [shop, late] = [project(below), project(below, 'late')];
      const file = join(below, 'all.code-workspace');
      const hold = (...folders: string[]) =>
        write(file, JSON.stringify({ folders: folders.map((path) => ({ path })) }));
      hold(shop, plans);
      await workbench.open(file);
      await workbench.openFile('shop/test_prices.py');
      await runByLens(workbench);
      await generateIn(workbench, plans);
      await chooseFolder(workbench);
      hold(shop, plans, late);
      await workbench.command('Testing: Focus on Test Explorer View');
      for (const name of ['shop', 'plans', 'late']) await workbench.testParent(name).first().waitFor();
      await workbench.command('View: Close All Editors');
      await workbench.page.keyboard.press('Control+P');
      await workbench.choose('late/test_prices.py', /^test_prices\.py.*late/);
      await workbench.page.locator('.monaco-breadcrumb-item').filter({ hasText: 'late' }).first().waitFor();
      await runByLens(workbench);
      await workbench.picture('folders-tests');
      hold(shop, late);
      await workbench.activity('Trellis');
      await workbench.button('Generate Repository from Graph…').waitFor();
      await workbench.command('Testing: Focus on Test Explorer View');
      await workbench.testParent('plans').first().waitFor({ state: 'detached' });
    },
  );
});

/** Makes a folder with a graph, and with a model in its own settings. */
function planFolder(below: string): string {
  const folder = join(below, 'plans');
  const graph = { nodes: [leaf], edges: [], metadata: { project_name: 'lib' } };
  write(join(folder, 'rpg.json'), JSON.stringify(graph));
  write(join(below, 'replies.jsonl'), `${replies.join('\n')}\n`);
  const settings = { 'trellis.model': `recorded:${join(below, 'replies.jsonl')}` };
  write(join(folder, '.vscode', 'settings.json'), JSON.stringify(settings));
  return folder;
}

/** The test of the active editor is run. */
async function runByLens(workbench: Workbench): Promise<void> {
  await workbench.lens(/^Run$/).nth(1).waitFor();
  await workbench.lens(/^Run$/).first().click();
  await workbench.lens('✓').waitFor();
}

/** The graph's folder is used, with its own settings; the view shows the run. */
async function generateIn(workbench: Workbench, plans: string): Promise<void> {
  await workbench.activity('Trellis');
  await workbench.button('Generate Repository from Graph…').click();
  await workbench.answerGenerate('plans/rpg.json');
  await workbench.notification('1 of 1 nodes passed').waitFor({ timeout: limits.generation });
  await workbench.treeItem('double').first().waitFor();
  await workbench.page
    .locator('.sidebar .composite.title')
    .filter({ hasText: /Run in plans\/output/i })
    .waitFor();
  assert.ok(existsSync(join(plans, 'output', 'src', 'lib', 'double.py')));
  await workbench.picture('folders-output');
  await showsGraph(workbench);
}

/** The page of the graph has its node. */
async function showsGraph(workbench: Workbench): Promise<void> {
  await workbench.command('Trellis: Show Planning Graph');
  await workbench.webview().locator('canvas').first().waitFor();
  await workbench.webview().locator('#find').fill('double');
  await workbench
    .webview()
    .locator('#said')
    .filter({ hasText: /^double, passed/ })
    .waitFor();
  await workbench.picture('folders-graph');
  await workbench.command('View: Close Editor');
}

/** The folder is asked for if no file determines it. */
async function chooseFolder(workbench: Workbench): Promise<void> {
  await workbench.command('Trellis: Run Demo');
  for (const name of ['shop', 'plans']) await workbench.option(name).waitFor();
  await workbench.picture('folders-asked');
  await workbench.page.keyboard.press('Escape');
  await workbench.input().waitFor({ state: 'detached' });
}
