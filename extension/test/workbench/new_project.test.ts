// From a description to a plan, part by part; and from code to a plan.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { repository } from '../lane/lanes';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

const example = join(repository, 'fixtures', 'examples', 'draft');

interface Reply {
  readonly node: string;
  readonly stage: string;
  readonly attempt?: number;
  readonly reply: string;
}

/** The replies of the example: the model asks a question first, and writes the layout twice. */
function replies(): string {
  const lines = readFileSync(join(example, 'replies.jsonl'), 'utf8').trim().split('\n');
  const all = lines.map((it): Reply => JSON.parse(it));
  const changed = (stage: string, attempt: number, old: string, next: string) =>
    all
      .filter((it) => it.stage === stage)
      .map((it) => ({ ...it, attempt, reply: it.reply.replace(old, next) }));
  const more = [
    ...changed('features', 0, '"questions": []', '"questions": ["Which case?"]'),
    ...changed('features', 1, '', ''),
    ...changed('layout', 1, 'Counts as text.', 'Counts as lines.'),
  ];
  const others = all.filter((it) => it.stage !== 'features');
  return [...more, ...others].map((it) => `${JSON.stringify(it)}\n`).join('');
}

const recording = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(recording, replies());
after(() => rmSync(dirname(recording), { recursive: true }));
const settings = { 'trellis.model': `recorded:${recording}`, 'trellis.sandbox': 'local' };

test('a description becomes a plan that a person decided part by part', async () => {
  await withSession('new_project', { settings }, async (session) => {
    const { server, workbench } = session;
    const root = join(server.scratch.root, 'tally');
    write(join(root, 'spec.md'), readFileSync(join(example, 'spec.md'), 'utf8'));
    await workbench.open(root);
    await workbench.command('Trellis: New Project from Description');
    await answers(session);
    await workbench.tab('features.json').waitFor();
    await workbench.line('Leave out stop words').waitFor();
    await workbench.pictures('new_project-1-features', root, settings);
    await workbench.lens('Accept').click();
    await workbench.tab('layout.json').waitFor();
    await workbench.tab('features.json').waitFor({ state: 'detached' });
    await sendsBack(session);
    await edits(session);
    // A window that is closed loses nothing.
    await workbench.tab('words.py').waitFor();
    await workbench.open(root);
    await workbench.command('Trellis: New Project from Description');
    await workbench.choose('Continue', 'Continue the Draft of spec.md');
    for (const file of ['words.py', 'counts.py', 'output.py', 'command.py']) {
      await workbench.tab(file).waitFor();
      await workbench.picture(`new_project-4-${file}`);
      await workbench.lens('Accept').click();
      await workbench.tab(file).waitFor({ state: 'detached' });
    }
    await showsPlan(session, root);
  });
});

/** Answers the questions before the draft, and that of the model. */
async function answers({ workbench }: Session): Promise<void> {
  const asked = (title: string) =>
    workbench.page.locator('.quick-input-widget:visible').filter({ hasText: title }).waitFor();
  await asked('Which file describes the project?');
  await workbench.picture('new_project-0-files');
  await workbench.choose('spec', 'spec.md');
  await asked('Write the plan to which file?');
  await workbench.input().press('Enter');
  await asked('How large is the project?');
  await workbench.choose('Small', '3 to 8 features');
  await asked('How do you take part?');
  await workbench.picture('new_project-0-options');
  await workbench.page.keyboard.press('Enter');
  await asked('Question 1 of 1');
  await asked('Which case?');
  await workbench.input().fill('Lower case.');
  await workbench.input().press('Enter');
}

/** A part that is sent back comes again, as the model changed it. */
async function sendsBack({ workbench }: Session): Promise<void> {
  await workbench.line('Counts as text.').click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.type(' Mine.');
  await workbench.lens('Send Back').click();
  // Edits are not given up without a word.
  const dialog = workbench.page.locator('.monaco-dialog-box');
  await dialog.filter({ hasText: 'You edited this part: layout.' }).waitFor();
  await workbench.page.keyboard.press('Escape');
  await workbench.line('Counts as text.').filter({ hasText: 'Mine.' }).waitFor();
  await workbench.lens('Send Back').click();
  await dialog.getByText('Discard Edits and Send Back').click();
  await workbench.page
    .locator('.quick-input-widget:visible')
    .filter({ hasText: 'The model writes this part again: layout.' })
    .waitFor();
  await workbench.input().fill('Speak of lines');
  await workbench.input().press('Enter');
  await workbench.line('Counts as lines.').waitFor();
  await workbench.picture('new_project-2-layout');
}

/** What a person edits in a part is part of the plan. */
async function edits({ workbench }: Session): Promise<void> {
  // A word alone: the editor would add quotes to those that are typed.
  await workbench.line('The command line.').getByText('"The command line."').dblclick();
  await workbench.page.keyboard.insertText('person');
  await workbench.picture('new_project-3-edited');
  await workbench.page.keyboard.press('Control+Enter');
}

/** The plan is drawn, and its run is offered. */
async function showsPlan({ workbench }: Session, root: string): Promise<void> {
  await workbench
    .webview()
    .locator('#summary')
    .filter({ hasText: /^9 nodes/ })
    .waitFor();
  const done = workbench.notification('plan.json: 4 files, ');
  await done.waitFor();
  await workbench.picture('new_project-5-plan');
  const plan = readFileSync(join(root, 'plan.json'), 'utf8');
  assert.ok(plan.includes('"The person line."') && plan.includes('"Counts as lines."'));
  await workbench.answer(done, 'Generate…').click();
  await workbench.page
    .locator('.quick-input-widget:visible')
    .filter({ hasText: 'Generate the repository in which folder?' })
    .waitFor();
  await workbench.page.keyboard.press('Escape');
}

test('code becomes a plan', async () => {
  await withSession('plan_from_code', { settings }, async ({ server, workbench }) => {
    const root = project(server.scratch.root);
    await workbench.open(root);
    await workbench.command('Trellis: Plan from This Folder');
    await workbench.page
      .locator('.quick-input-widget:visible')
      .filter({ hasText: 'Write the plan to which file?' })
      .waitFor();
    await workbench.input().press('Enter');
    await workbench
      .webview()
      .locator('#summary')
      .filter({ hasText: /^2 nodes/ })
      .waitFor();
    await workbench.notification('plan.json: 1 file, 2 functions and classes').waitFor();
    await workbench.picture('plan_from_code');
    assert.ok(readFileSync(join(root, 'plan.json'), 'utf8').includes('"discounted"'));
  });
});
