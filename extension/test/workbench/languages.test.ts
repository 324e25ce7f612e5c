// Tests of vitest and go in the Testing view: found without a run, run from the view and by lenses, marked in the text.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { addPackage } from '../lane/node_packages';
import { retryLimits } from '../lane/patience';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import { appears, type Workbench } from '../lane/workbench';

const settings = { 'trellis.sandbox': 'local', 'testing.countBadge': 'off' };

const vitest = {
  'trellis.toml': '',
  'package.json': '{ "type": "module", "devDependencies": { "vitest": "3" } }\n',
  'src/half.ts': 'export const half = (number: number): number => number / 2;\n',
  'src/half.test.ts': `import { describe, expect, it, test } from 'vitest';
import { half } from './half';

describe('half', () => {
  it('of four', () => {
    expect(half(4)).toBe(2);
  });

  it('of [odd] numbers', () => {
    expect(half(3)).toBe(1);
  });
});

test('beside the group', () => {});

test.each([2, 4])('%i is even', (number) => {
  expect(number % 2).toBe(0);
});
`,
} as const;

const go = {
  'trellis.toml': '',
  'go.mod': 'module example.com/shop\n\ngo 1.18\n',
  'internal/cart/cart_test.go': `package cart

import "testing"

func TestCart(t *testing.T) {
	t.Run("of two", func(t *testing.T) {})
}

func TestBroken(t *testing.T) {
	t.Error("no")
}
`,
} as const;

test('tests of vitest and go are rows, run from the view and by lenses, and have marks', async () => {
  await withSession('languages', { settings }, async ({ server, workbench }) => {
    const shelf = project(join(server.scratch.root, 'shelf'), vitest);
    addPackage(shelf, 'vitest@3');
    await workbench.open(shelf);
    await runGroup(workbench);
    await readMarks(workbench, shelf);
    await followEdits(workbench);
    if (spawnSync('go', ['version']).status !== 0) return console.log('SKIPPED: go is not installed');
    await workbench.open(project(join(server.scratch.root, 'carts'), go));
    await runFolder(workbench);
  });
});

function project(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) write(join(root, path), text);
  return root;
}

/** The row of a group runs its tests, and no others. */
async function runGroup(workbench: Workbench): Promise<void> {
  await workbench.command('Testing: Focus on Test Explorer View');
  for (const it of ['shelf', 'src', 'half.test.ts']) await workbench.expand(workbench.testParent(it));
  const group = workbench.page.locator('.test-explorer [role="treeitem"][aria-label^="half ("]');
  await workbench.expand(group);
  await group.hover();
  await group.locator('.codicon-testing-run-icon').click();
  await workbench.testItem('of four', 'Passed').waitFor();
  await workbench.testItem('of [odd] numbers', 'Failed').waitFor();
  assert.equal(await workbench.page.locator('.test-explorer').getByText('2 is even').count(), 0);
}

/** The text has a mark and a lens beside each test; a run of the file adds the cases that only it knows. */
async function readMarks(workbench: Workbench, root: string): Promise<void> {
  await workbench.openFile('half.test.ts');
  await workbench.lens(/^Run$/).nth(3).waitFor();
  assert.equal(await workbench.lens(/^Run$/).count(), 4);
  await workbench.pictures('languages-1-group', root, {});
  const file = workbench.testParent('half.test.ts');
  await file.hover();
  await file.locator('.codicon-testing-run-icon').click();
  await workbench.testItem('2 is even', 'Passed').waitFor();
}

/** Rows and lenses follow what is typed, and the new lens runs the test when it is saved. */
async function followEdits(workbench: Workbench): Promise<void> {
  await workbench.typeAfter("import { half } from './half';", "\ntest('typed', () => {});");
  await workbench.lens(/^Run$/).nth(4).waitFor();
  await workbench.page.locator('.test-explorer [role="treeitem"][aria-label^="typed ("]').waitFor();
  await workbench.page.keyboard.press('Control+S');
  await workbench.page.locator('.tab.dirty').waitFor({ state: 'detached' });
  // Lenses move while they are made anew, so a click may meet another one.
  for (const bound of retryLimits()) {
    await (await topmost(workbench.lens(/^Run$/))).click();
    if (await appears(workbench.testItem('typed', 'Passed'), bound)) break;
  }
  await workbench.testItem('typed', 'Passed').waitFor();
  await workbench.testItem('2 is even', 'Passed').waitFor();
  await workbench.picture('languages-2-typed');
}

/** Lenses are in the page in the order in which they were made. */
async function topmost(lenses: Locator): Promise<Locator> {
  const all = await lenses.all();
  const tops = await Promise.all(
    all.map(async (it) => (await it.boundingBox())?.y ?? Number.POSITIVE_INFINITY),
  );
  return lenses.nth(tops.indexOf(Math.min(...tops)));
}

/** The row of a folder that is no package runs the packages in it; subtests are rows. */
async function runFolder(workbench: Workbench): Promise<void> {
  await workbench.command('Testing: Focus on Test Explorer View');
  for (const it of ['carts', 'internal', 'cart', 'TestCart'])
    await workbench.expand(workbench.testParent(it).last());
  const folder = workbench.testParent('internal');
  await folder.hover();
  await folder.locator('.codicon-testing-run-icon').click();
  await workbench.testItem('of_two', 'Passed').waitFor();
  await workbench.testItem('TestBroken', 'Failed').waitFor();
  await workbench.openFile('cart_test.go');
  await workbench.lens(/^Run$/).nth(2).waitFor();
  await workbench.picture('languages-3-go');
}
