// The tree of the Testing view: filled when the folder opens, with folders, reasons, parts of tests and output.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const settings = { 'trellis.sandbox': 'local', 'testing.countBadge': 'off' };

const files = {
  'pyproject.toml': '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
  'tests/unit/test_kinds.py': `import logging
import unittest

import pytest


def test_prints():
    print("a printed line")
    logging.warning("a logged line")


@pytest.mark.skip(reason="needs a network")
def test_skipped():
    pass


@pytest.mark.xfail(reason="issue 7")
def test_expected():
    assert 1 == 2


@pytest.mark.parametrize("number", [1, 2])
def test_numbers(number):
    pass
`,
  'tests/unit/test_parts.py': `import unittest


class Halves(unittest.TestCase):
    def test_each(self):
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertNotEqual(number, 2)
`,
  'tests/deep/er/test_far.py': 'def test_far():\n    pass\n',
} as const;

test('the view has folders and tests without a click, follows the disk, and shows what runs say', async () => {
  await withSession('tree', { settings }, async ({ server, workbench }) => {
    const root = join(server.scratch.root, 'shelf');
    for (const [path, text] of Object.entries(files)) write(join(root, path), text);
    await workbench.open(root);
    await workbench.watches(root, 'pyproject.toml');
    await workbench.command('Testing: Focus on Test Explorer View');
    for (const it of ['shelf', 'tests', 'unit', 'test_kinds.py'])
      await workbench.expand(workbench.testParent(it));
    for (const it of ['test_prints', 'test_skipped', 'test_expected', 'test_numbers'])
      await row(workbench, it).waitFor();
    await workbench.picture('tree-1-found');
    await followDisk(workbench, root);
    await runAll(workbench);
    await readOutput(workbench);
  });
});

/** A row of the view, by the beginning of its label. */
function row(workbench: Workbench, name: string) {
  return workbench.page.locator(`.test-explorer [role="treeitem"][aria-label^="${name} ("]`).first();
}

/** A row with a note, which is part of its accessible name in one of the editors. */
function rowOf(workbench: Workbench, name: string) {
  return workbench.page.locator('.test-explorer [role="treeitem"]').filter({ hasText: name });
}

/** New test files appear with their folders, changed ones are updated, and deleted ones go. */
async function followDisk(workbench: Workbench, root: string): Promise<void> {
  mkdirSync(join(root, 'tests', 'later'));
  write(join(root, 'tests', 'later', 'test_new.py'), 'def test_new():\n    pass\n');
  for (const it of ['later', 'test_new.py']) await workbench.expand(workbench.testParent(it));
  await row(workbench, 'test_new').waitFor();
  write(join(root, 'tests', 'later', 'test_new.py'), 'def test_other():\n    pass\n');
  await row(workbench, 'test_other').waitFor();
  rmSync(join(root, 'tests', 'later'), { recursive: true });
  await row(workbench, 'later').waitFor({ state: 'detached' });
}

/** A folder's row runs the folder; reasons and cases appear beside and below their tests. */
async function runAll(workbench: Workbench): Promise<void> {
  await row(workbench, 'unit').hover();
  await row(workbench, 'unit').locator('.codicon-testing-run-icon').click();
  await workbench.testItem('test_prints', 'Passed').waitFor();
  await rowOf(workbench, 'test_skipped').getByText('skipped: needs a network').waitFor();
  await rowOf(workbench, 'test_expected').getByText('xfailed: issue 7').waitFor();
  await workbench.expand(workbench.testParent('test_numbers'));
  await workbench.testItem('[2]', 'Passed').waitFor();
  for (const it of ['test_parts.py', 'Halves', 'test_each']) await workbench.expand(workbench.testParent(it));
  await workbench.testItem('(number=1)', 'Passed').waitFor();
  await workbench.testItem('(number=2)', 'Failed').waitFor();
  await workbench.picture('tree-2-run');
}

/** The output of a test that passed is there when somebody looks for it. */
async function readOutput(workbench: Workbench): Promise<void> {
  await workbench.command('Test Results: Focus on Test Results View');
  const results = workbench.page.locator('.test-output-peek-tree');
  await results.getByText('test_prints').first().click();
  const terminal = workbench.page.locator(
    '.test-output-peek .xterm-rows, .test-results .xterm-rows, .xterm-rows',
  );
  await terminal.getByText('a printed line').first().waitFor();
  assert.equal(await workbench.page.getByText('did not').count(), 0);
  await workbench.picture('tree-3-output');
}
