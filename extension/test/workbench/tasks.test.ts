// A task list is built from the palette: view and page show its tasks, and a failed one is retried.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

const stack = `name: plain-python
display_name: Plain Python
description: Modules and tests
category: library
src_dir: app
test_dir: tests
test_command: python -m pytest
install: none
config_files:
  pyproject.toml: |
    [tool.pytest.ini_options]
    pythonpath = ['.']
  .gitignore: |
    __pycache__/
    .pytest_cache/
hello_world:
  app/__init__.py: ''
  tests/test_app.py: |
    import app


    def test_app():
        assert app.__name__ == 'app'
conventions: |
  - One function a module.
`;
const tasks = [
  { id: 'one', description: 'Give one' },
  { id: 'two', description: 'Give two', depends_on: ['one'] },
  { id: 'three', description: 'Give three' },
  { id: 'four', description: 'Give four', depends_on: ['three'] },
  { id: 'five', description: 'Give five' },
];
const file = (path: string, text: string) => `${path}\n\`\`\`python\n${text}\`\`\`\n`;
const code = (id: string, value: number) => file(`app/${id}.py`, `def ${id}():\n    return ${value}\n`);

/** Replies of a model; `three` is right only if it is fixed. */
function replies(isMended: boolean): string {
  const lines = tasks.flatMap(({ id }, at) => {
    const right = isMended || id !== 'three';
    const tests = file(
      `tests/test_${id}.py`,
      `from app.${id} import ${id}\n\n\ndef test_${id}():\n    assert ${id}() == ${at + 1}\n`,
    );
    const made = code(id, right ? at + 1 : 0);
    const fixes = [0, 1, 2].map((attempt) => ({
      node: id,
      stage: 'fix',
      attempt,
      reply: code(id, -attempt - 1),
    }));
    const given = [
      { node: id, stage: 'scaffold', attempt: 0, reply: tests },
      { node: id, stage: 'implementation', attempt: 0, reply: made },
    ];
    return right ? given : [...given, ...fixes];
  });
  // Tests of all tasks together, if requested.
  const together = file(
    'tests/test_together.py',
    'import app\n\n\ndef test_together():\n    assert app.__name__\n',
  );
  lines.push({ node: 'integration', stage: 'integration', attempt: 0, reply: together });
  return lines.map((it) => `${JSON.stringify(it)}\n`).join('');
}

const settings = { 'trellis.model': 'recorded:replies.jsonl', 'trellis.sandbox': 'local' };
const LONG = { timeout: limits.generation };

test('tasks are built, followed and retried', async () => {
  await withSession('tasks', { settings }, async (session) => {
    const { server, workbench } = session;
    const root = join(server.scratch.root, 'plans');
    write(join(root, 'tasks.json'), `${JSON.stringify({ tech_stack: 'plain-python', tasks }, null, 2)}\n`);
    write(join(root, 'trellis-stacks', 'plain.yaml'), stack);
    write(join(root, 'replies.jsonl'), replies(false));
    await workbench.open(root);
    await workbench.activity('Trellis');
    await startTasks(session);
    await workbench
      .treeItem(/passed, \d+ running/)
      .first()
      .waitFor();
    await workbench.picture('tasks-1-under-way');
    const ended = workbench.notification('3 of 5 tasks merged, 1 failed, 1 blocked. three: ');
    await ended.waitFor(LONG);
    await showsTasks(session);
    await showsGraph(session);
    write(join(root, 'replies.jsonl'), replies(true));
    await ended.locator(workbench.button('Try Again')).click();
    await workbench.notification('5 of 5 tasks merged.').waitFor(LONG);
    await workbench.treeItem('5/5 passed').first().waitFor();
    await workbench.picture('tasks-4-merged');
    assert.equal(
      readFileSync(join(root, 'project', 'app', 'three.py'), 'utf8'),
      'def three():\n    return 3\n',
    );
  });
});

/** The open list is used without a question. */
async function startTasks({ workbench }: Session): Promise<void> {
  await workbench.openFile('tasks.json');
  await workbench.command('Trellis: Build Project from Task List');
  const title = (text: string) =>
    workbench.page.locator('.quick-input-widget:visible').filter({ hasText: text }).waitFor();
  await title('Which tech stack?');
  await workbench.choose('plain', 'plain-python, named in the task list');
  await title('Build the project in which folder?');
  await workbench.input().press('Enter');
}

/** Each task with its status, the reason of its failure, and its place in the list. */
async function showsTasks({ workbench }: Session): Promise<void> {
  await workbench.treeItem('3/5 passed, 1 failed, 1 skipped').first().waitFor();
  const failed = workbench.treeItem('Give three');
  await workbench.expand(failed);
  await workbench.treeItem('attempts failed').waitFor();
  await workbench.treeItem(/Give four.*skipped/).waitFor();
  await workbench.treeItem(/Give two.*passed/).click();
  await workbench.tab('tasks.json').waitFor();
  await workbench.picture('tasks-2-settled');
  await failed.click();
  const page = workbench.webview();
  await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
  await page.locator('section').filter({ hasText: 'Blocks' }).getByText('four').waitFor();
  await page.getByRole('button', { name: 'Edit the Task' }).waitFor();
  await workbench.picture('tasks-2-failed');
}

async function showsGraph({ workbench }: Session): Promise<void> {
  await workbench.command('Trellis: Show Planning Graph');
  await workbench.webview().locator('canvas').first().waitFor();
  const page = workbench.webview();
  await page
    .locator('.labels .name')
    .nth(tasks.length - 1)
    .waitFor();
  for (const [status, count] of [
    ['passed', 3],
    ['failed', 1],
    ['skipped', 1],
  ])
    await page
      .locator('#legend button')
      .filter({ hasText: `${status} ${count}` })
      .waitFor();
  await workbench.picture('tasks-3-graph');
}
