// An issue is implemented from the palette: its change waits in the list, and is merged without a file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { retryLimits } from '../lane/patience';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import { appears } from '../lane/workbench';

const code = 'def half(price):\n    """Half a price."""\n    return price / 2\n';
const tests = 'from halves import half\n\n\ndef test_half():\n    assert half(5) == 2.5\n';
const extra = 'LIMIT = 1\n';
const file = (path: string, text: string) => `${path}\n\`\`\`python\n${text}\`\`\`\n`;
const lines = [
  { stage: 'scaffold', attempt: 0, reply: file('test_halves.py', tests) },
  {
    stage: 'implementation',
    attempt: 0,
    reply: file('halves.py', code.replace('Half', 'A half of')) + file('extra.py', extra),
  },
  { stage: 'fix', attempt: 0, reply: file('halves.py', code) },
];
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(replies, lines.map((it) => `${JSON.stringify({ node: '42', ...it })}\n`).join(''));
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = { 'trellis.model': `recorded:${replies}`, 'trellis.sandbox': 'local' };

test('an issue waits in the list, and is merged without a file', async () => {
  await withSession('implement', { settings }, async (session) => {
    const { server, workbench } = session;
    const root = project(server.scratch.root);
    write(join(root, 'docs', 'lld.md'), '# Halves\n\n`halves.py` gets `half(price)`.\n');
    write(join(root, '.gitignore'), '__pycache__/\n.pytest_cache/\n.vscode/\n');
    const git = (...given: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...given], { cwd: root })
        .toString()
        .trim();
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('commit', '--quiet', '-m', 'start');
    await workbench.open(root);
    await workbench.command('Trellis: Implement Issue from Spec');
    await answerQuestions(session);
    const ready = workbench.notification('is ready for review: 2 pass · 1 failed before, too');
    await ready.waitFor();
    // The list and the end of the job announce the change once.
    await workbench.statusItem('trellis.review').filter({ hasText: '1 issue to review' }).waitFor();
    assert.equal(await ready.count(), 1);
    assert.ok(!existsSync(join(root, 'halves.py')), 'nothing is merged before a person says so');
    // A window that is closed loses nothing.
    await workbench.open(root);
    await workbench.statusItem('trellis.review').filter({ hasText: '1 issue to review' }).waitFor();
    await workbench.activity('Trellis');
    const row = workbench.treeItem('Issue 42: Halves');
    await row.filter({ hasText: '2 pass · 1 failed before, too' }).waitFor();
    await row.click();
    await workbench.tab('Issue 42: Halves').waitFor();
    await workbench.line('A half of a price.').first().waitFor();
    await ready.first().waitFor();
    await workbench.page.keyboard.press('Escape');
    await workbench.command('Notifications: Clear All Notifications');
    await workbench.pictures('implement-1-review', root, settings);
    // The difference of a file has the path of the project.
    await fileRow(session, 'extra.py').click();
    await workbench.tab('extra.py (Issue 42)').waitFor();
    await workbench.line('LIMIT = 1').first().waitFor();
    await workbench.picture('implement-2-file');
    await titleAction(session, 'Request Changes to Issue…').click();
    await workbench.page
      .locator('.quick-input-widget:visible')
      .filter({ hasText: 'What should change?' })
      .waitFor();
    await workbench.input().fill('Say it in fewer words');
    await workbench.input().press('Enter');
    await ready.first().waitFor();
    assert.equal(await ready.count(), 1);
    await workbench.answer(ready, 'Review').click();
    await workbench.line('Half a price.').first().waitFor();
    // Without a file that tests need, nothing is merged.
    await setIncluded(session, 'halves.py', false);
    await titleAction(session, 'Merge Issue').click();
    await workbench.notification('was not merged: without halves.py, the new tests fail').waitFor();
    await row.filter({ hasText: 'not merged' }).waitFor();
    await workbench.picture('implement-3-refused');
    assert.ok(!existsSync(join(root, 'halves.py')), 'nothing is merged');
    await workbench.command('Notifications: Clear All Notifications');
    await setIncluded(session, 'halves.py', true);
    await leaveOutByKeyboard(session, 'extra.py');
    await row.hover();
    await row.locator('a[aria-label^="Merge Issue"]').click();
    await workbench.notification('Issue 42: merged, 2 tests pass').waitFor();
    await workbench.picture('implement-4-merged');
    assert.equal(readFileSync(join(root, 'halves.py'), 'utf8'), code);
    assert.ok(!existsSync(join(root, 'extra.py')), 'it was left out');
    assert.equal(git('log', '-1', '--format=%s'), 'Issue 42: Halves');
    assert.equal(git('status', '--short'), '');
    await workbench.statusItem('trellis.review').waitFor({ state: 'hidden' });
    await workbench.tab('Issue 42').waitFor({ state: 'detached' });
    // The worktree of the issue is no project of the Testing view.
    await workbench.command('Testing: Focus on Test Explorer View');
    await workbench.testParent('shop').waitFor();
    const ours = workbench.page.locator('.test-explorer [role="treeitem"]').filter({ hasText: '.trellis' });
    assert.equal(await ours.count(), 0);
  });
});

/** Row of a file of the issue. */
function fileRow({ workbench }: Session, path: string): Locator {
  return workbench.treeItem(new RegExp(`^${path.replace('.', '\\.')}`));
}

/** Leaves a file out, or takes it in again; retries once if the click is lost. */
async function setIncluded(session: Session, path: string, isIncluded: boolean): Promise<void> {
  const row = fileRow(session, path);
  const wanted = row.filter(isIncluded ? { hasNotText: 'left out' } : { hasText: 'left out' });
  for (const bound of retryLimits()) {
    if (!(await wanted.isVisible())) await row.locator('[role="checkbox"]').click();
    if (await appears(wanted, bound)) return;
  }
  throw new Error(`the checkbox of ${path} does not change`);
}

/** Leaves a file out without the mouse. */
async function leaveOutByKeyboard(session: Session, path: string): Promise<void> {
  const { workbench } = session;
  await workbench.command('Trellis: Choose Files of Issue');
  await workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: path }).waitFor();
  await workbench.input().fill(path);
  for (const it of ['ArrowDown', 'Space']) await workbench.page.keyboard.press(it);
  await workbench.picture('implement-3-files');
  await workbench.page.keyboard.press('Enter');
  await fileRow(session, path).filter({ hasText: 'left out' }).waitFor();
}

/** Action in the title bar of the active editor. */
function titleAction({ workbench }: Session, title: string): Locator {
  return workbench.page
    .locator(`.editor-group-container.active .editor-actions a[aria-label^="${title}"]`)
    .first();
}

/** Answers the questions before the job. */
async function answerQuestions({ workbench }: Session): Promise<void> {
  const title = (text: string) =>
    workbench.page.locator('.quick-input-widget:visible').filter({ hasText: text }).waitFor();
  await title('Which file is the spec?');
  await workbench.choose('lld', 'docs/lld.md');
  await title('Implement which issue?');
  await workbench.input().fill('42');
  await workbench.input().press('Enter');
  await title('Which files should every prompt include?');
  await workbench.input().press('Enter');
}
