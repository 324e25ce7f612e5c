// An issue is implemented from the palette: its change is reviewed and merged.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

const code = 'def half(price):\n    """Half a price."""\n    return price / 2\n';
const tests = 'from halves import half\n\n\ndef test_half():\n    assert half(5) == 2.5\n';
const file = (path: string, text: string) => `${path}\n\`\`\`python\n${text}\`\`\`\n`;
const lines = [
  { stage: 'scaffold', attempt: 0, reply: file('test_halves.py', tests) },
  { stage: 'implementation', attempt: 0, reply: file('halves.py', code.replace('Half', 'A half of')) },
  { stage: 'fix', attempt: 0, reply: file('halves.py', code) },
];
const replies = join(mkdtempSync(join(tmpdir(), 'trellis-replies-')), 'replies.jsonl');
write(replies, lines.map((it) => `${JSON.stringify({ node: '42', ...it })}\n`).join(''));
after(() => rmSync(dirname(replies), { recursive: true }));
const settings = { 'trellis.model': `recorded:${replies}`, 'trellis.sandbox': 'local' };

test('an issue is implemented, reviewed and merged', async () => {
  await withSession('implement', { settings }, async (session) => {
    const { server, workbench } = session;
    const root = project(server.scratch.root);
    write(join(root, 'docs', 'lld.md'), '# Halves\n\n`halves.py` gets `half(price)`.\n');
    write(join(root, '.gitignore'), '__pycache__/\n.pytest_cache/\n');
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
    const waits = workbench.notification('Issue 42: the change is ready for your review, 2 tests pass');
    await waits.waitFor();
    await workbench.tab('Issue 42').waitFor();
    await workbench.line('A half of a price.').first().waitFor();
    await workbench.picture('implement-1-review');
    assert.ok(!existsSync(join(root, 'halves.py')), 'nothing is merged before a person says so');
    await waits.locator(workbench.button('Request Changes…')).click();
    await workbench.page
      .locator('.quick-input-widget:visible')
      .filter({ hasText: 'What should change?' })
      .waitFor();
    await workbench.input().fill('Say it in fewer words');
    await workbench.input().press('Enter');
    await workbench.line('Half a price.').first().waitFor();
    await waits.locator(workbench.button('Merge')).click();
    await workbench.notification('Issue 42: merged, 2 tests pass').waitFor();
    await workbench.picture('implement-2-merged');
    assert.equal(readFileSync(join(root, 'halves.py'), 'utf8'), code);
    assert.equal(git('log', '-1', '--format=%s'), 'Issue 42: Halves');
    assert.equal(git('status', '--short'), '');
    // The worktree of the issue is no project of the Testing view.
    await workbench.command('Testing: Focus on Test Explorer View');
    await workbench.testParent('shop').waitFor();
    const ours = workbench.page.locator('.test-explorer [role="treeitem"]').filter({ hasText: '.trellis' });
    assert.equal(await ours.count(), 0);
  });
});

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
