// A plan is edited in its picture: what a person changes goes into the file, and nothing else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository } from '../lane/lanes';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

/** The name is a pattern that does not match itself. */
const PLAN = 'plan [a].json';

const plan = readFileSync(join(repository, 'fixtures', 'examples', 'generate', 'plan.json'), 'utf8');

test('nodes and dependencies of a plan are edited beside its picture', async () => {
  await withSession('plan_edits', {}, async (session) => {
    const root = join(session.server.scratch.root, 'pantry');
    write(join(root, 'setup.cfg'), '');
    write(join(root, PLAN), plan);
    await session.workbench.open(root);
    await session.workbench.openFile(PLAN);
    await session.workbench.lens('Show Planning Graph').click();
    await page(session)
      .locator('#summary')
      .filter({ hasText: /^7 nodes|^8 nodes/ })
      .waitFor();
    await selects(session, 'convert');
    await showsProblems(session);
    await setsDocstring(session, root);
    await renames(session, root);
    await links(session, root);
    await removes(session, root);
    await follows(session, root);
    await session.workbench.pictures('plan_edits-4', root, {});
  });
});

const page = ({ workbench }: Session) => workbench.webview();

/** Goes to a node by its name. */
async function selects(session: Session, name: string): Promise<void> {
  await page(session).locator('#find').fill(name);
  await page(session).locator('#form').waitFor({ state: 'visible' });
  await page(session).locator(`#form[data-node$="${name}"]`).waitFor();
}

/** What an input would break is said while it is typed, and nothing is written. */
async function showsProblems(session: Session): Promise<void> {
  const docstring = page(session).locator('#form-docstring');
  const text = await docstring.inputValue();
  await docstring.fill('');
  await page(session).locator('#form-problems li').first().waitFor();
  await session.workbench.picture('plan_edits-1-problem');
  await docstring.fill(text);
  await page(session).locator('#form-problems li').first().waitFor({ state: 'detached' });
}

/** Only the lines of what was edited change. */
async function setsDocstring(session: Session, root: string): Promise<void> {
  await page(session).locator('#form-docstring').fill('Convert an amount.');
  await page(session)
    .locator('#form-examples textarea')
    .last()
    .fill('convert(Fraction(1), "cup", "cup") == 1');
  await page(session).locator('#form-save').click();
  await page(session).locator('#form-save:disabled').waitFor();
  const edited = await changed(session, root, plan);
  assert.ok(edited.includes('"docstring": "Convert an amount."'), edited);
  assert.ok(edited.includes(String.raw`convert(Fraction(1), \"cup\", \"cup\") == 1`), edited);
  const old = new Set(plan.split('\n'));
  const lines = edited.split('\n').filter((it) => !old.has(it));
  assert.ok(lines.length <= 3, lines.join('\n'));
}

/** References follow a new name. */
async function renames(session: Session, root: string): Promise<void> {
  const before = readFileSync(join(root, PLAN), 'utf8');
  await page(session).locator('#form-name').fill('exchange');
  await page(session).locator('#form-name').press('Enter');
  const edited = await changed(session, root, before);
  assert.ok(edited.includes('"units.exchange"') && !edited.includes('"units.convert"'), edited);
  await page(session).locator('#form[data-node="units.exchange"]').waitFor();
  await session.workbench.picture('plan_edits-2-renamed');
}

/** A dependency is added and removed; one that would close a circle is refused. */
async function links(session: Session, root: string): Promise<void> {
  const needs = page(session).locator('#form-needs');
  const need = page(session).locator('#form-need');
  const before = readFileSync(join(root, PLAN), 'utf8');
  await need.fill('recipes.shopping_list');
  await need.press('Enter');
  await page(session).locator('#form-problems.refused').filter({ hasText: 'the edit would make' }).waitFor();
  await session.workbench.picture('plan_edits-3-refused');
  assert.equal(readFileSync(join(root, PLAN), 'utf8'), before);
  await need.fill('units.parse_amount');
  await need.press('Enter');
  await needs.getByText('units.parse_amount').waitFor();
  await needs.getByRole('button', { name: 'Remove the dependency on units.parse_amount' }).click();
  await needs.getByText('units.parse_amount').waitFor({ state: 'detached' });
  assert.equal(readFileSync(join(root, PLAN), 'utf8'), before, 'byte for byte');
}

/** A node goes with the references to it, once the person has confirmed it. */
async function removes(session: Session, root: string): Promise<void> {
  const before = readFileSync(join(root, PLAN), 'utf8');
  await selects(session, 'shopping_list');
  await page(session).getByRole('button', { name: 'Remove Node' }).click();
  await session.workbench.button('Remove').click();
  const edited = await changed(session, root, before);
  assert.ok(!edited.includes('"recipes.shopping_list"'), edited);
  await page(session).locator('#form').waitFor({ state: 'hidden' });
}

/** The picture shows what another program wrote. */
async function follows(session: Session, root: string): Promise<void> {
  const summary = page(session).locator('#summary');
  const before = await summary.innerText();
  write(join(root, PLAN), plan);
  await summary.filter({ hasNotText: before }).waitFor();
  await selects(session, 'shopping_list');
}

/** Waits until the file has another text, and returns it. */
async function changed(session: Session, root: string, before: string): Promise<string> {
  const read = () => readFileSync(join(root, PLAN), 'utf8');
  while (read() === before) await session.workbench.page.evaluate(() => new Promise(requestAnimationFrame));
  return read();
}
