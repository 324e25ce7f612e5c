// Models: those of another extension, and one that is chosen when work needs it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { laneNamed, wanted } from '../lane/lanes';
import { other } from '../lane/other';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';

/** The reply depends on the text of the prompt, and is the same for every `fN`. */
const provider = `
const { lm, LanguageModelTextPart } = require('vscode');
const text = (it) => it.content.map((part) => part.value ?? '').join('');
const model = { id: 'small', name: 'Small', family: 'test', version: '1', maxInputTokens: 100000, maxOutputTokens: 8000, capabilities: {} };
const tests = (f) => ['a', 'b', 'c'].map((it, index) => 'def test_' + it + '():\\n    assert ' + f + '(' + index + ') == ' + (index + 1)).join('\\n\\n\\n');
exports.activate = (context) => {
  context.subscriptions.push(lm.registerLanguageModelChatProvider('trellis-test', {
    provideLanguageModelChatInformation: () => [model],
    provideTokenCount: async (_, it) => (typeof it === 'string' ? it : text(it)).length,
    provideLanguageModelChatResponse: async (_, messages, options, progress) => {
      const asked = text(messages[messages.length - 1]);
      const f = (/\\bf\\d\\b/.exec(asked) ?? ['f0'])[0];
      const code = asked.includes('pytest module') ? 'from lib.' + f + ' import ' + f + '\\n\\n\\n' + tests(f) : 'def ' + f + '(x: int) -> int:\\n    return x + 1';
      progress.report(new LanguageModelTextPart('\`\`\`python\\n' + code + '\\n\`\`\`'));
    },
  }));
};
`;

const manifest = {
  engines: { vscode: '^1.104.0' },
  activationEvents: ['onStartupFinished'],
  contributes: { languageModelChatProviders: [{ vendor: 'trellis-test', displayName: 'Test' }] },
};

const leaf = (id: string) => ({
  id,
  name: id,
  type: 'function',
  node_type: 'leaf',
  file_path: `src/lib/${id}.py`,
  signature: `def ${id}(x: int) -> int`,
  docstring: 'One more than x.',
  dependencies: [],
  subgraph_id: 'lib',
});

const isOld = laneNamed(wanted('TRELLIS_LANE')).name === '1';

test('a repository is generated with a model of the editor', {
  skip: isOld && 'its editor has no models',
}, async () => {
  const settings = { 'trellis.model': 'editor:small', 'trellis.sandbox': 'local' };
  const others = [other('models', manifest, provider)];
  await withSession('model', { settings, others }, async ({ server, workbench }) => {
    const folder = join(server.scratch.root, 'plans');
    const graph = { nodes: ['f0', 'f1', 'f2'].map(leaf), edges: [], metadata: { project_name: 'lib' } };
    write(join(folder, 'rpg.json'), JSON.stringify(graph));
    await workbench.open(folder);
    await workbench.openFile('rpg.json');
    await workbench.statusItem('trellis.run').waitFor();
    await workbench.command('Trellis: Generate Repository from Graph');
    await workbench.answerGenerate('rpg.json');
    await workbench.notification('3 of 3 nodes passed').waitFor({ timeout: limits.generation });
    await workbench.picture('model-done');
    const journal = readFileSync(join(folder, 'output', '.trellis', 'journal.jsonl'), 'utf8');
    assert.match(journal, /editor:small/);
    assert.ok(existsSync(join(folder, 'output', 'src', 'lib', 'f2.py')));
  });
});

const tests = 'from lib.f0 import f0\n\n\ndef test_one():\n    assert f0(1) == 2\n';
const taxes = 'from taxes import tax\n\n\ndef test_ten():\n    assert tax(10) == 2\n';
const replies = [
  { node: 'taxes.py::tax', stage: 'write_tests', attempt: 0, reply: taxes },
  { node: 'f0', stage: 'tests', attempt: 0, reply: tests },
  { node: 'f0', stage: 'implementation', attempt: 0, reply: 'def f0(x: int) -> int:\n    return x + 1\n' },
];
const inFence = (it: (typeof replies)[number]) => ({ ...it, reply: `\`\`\`python\n${it.reply}\`\`\`\n` });

test('work goes on once its model is chosen, and the last graph and folder are proposed', async () => {
  await withSession('choice', { settings: { 'trellis.sandbox': 'local' } }, async (session) => {
    const { server, workbench } = session;
    const folder = join(server.scratch.root, 'plans');
    write(join(folder, 'taxes.py'), 'def tax(price):\n    return price / 5\n');
    const graph = { nodes: [leaf('f0')], edges: [], metadata: { project_name: 'lib' } };
    for (const name of ['alpha_plan.json', 'middle_rpg.json', 'zeta_plan.json'])
      write(join(folder, name), JSON.stringify(graph));
    write(join(folder, 'replies.jsonl'), replies.map((it) => `${JSON.stringify(inFence(it))}\n`).join(''));
    await workbench.open(folder);
    await workbench.openFile('taxes.py');
    await workbench.lens('Generate tests').first().click();
    const lacking = workbench.notification('no model is configured');
    await workbench.answer(lacking, 'Select Model…').click();
    await workbench.option('Recorded replies').click();
    await workbench.option('replies.jsonl').click();
    // Nothing is clicked again.
    await workbench.tab('test_taxes.py (tests for tax)').waitFor();
    await workbench.line('assert tax(10) == 2').first().waitFor();
    await workbench.picture('model-3-goes-on');
    await workbench.line('assert tax(10) == 2').first().click();
    await workbench.command('Trellis: Discard Tests');
    await workbench.tab('tests for tax').waitFor({ state: 'detached' });
    await workbench.statusItem('trellis.review').waitFor({ state: 'hidden' });
    await proposesLast(session, folder);
  });
});

/** The second run of a person begins with the answers of the first. */
async function proposesLast({ workbench }: Session, folder: string): Promise<void> {
  const asked = (title: string) =>
    workbench.page.locator('.quick-input-widget:visible').filter({ hasText: title }).waitFor();
  await workbench.command('Trellis: Generate Repository from Graph');
  await asked('Generate a repository from which planning graph?');
  await workbench.choose('middle', 'middle_rpg.json');
  await asked('Generate the repository in which folder?');
  await workbench.input().fill('made');
  await workbench.input().press('Enter');
  await workbench.notification('1 of 1 nodes passed').waitFor({ timeout: limits.generation });
  assert.ok(existsSync(join(folder, 'made', 'src', 'lib', 'f0.py')));
  await workbench.command('Trellis: Generate Repository from Graph');
  await asked('Generate a repository from which planning graph?');
  await workbench.option('last used').waitFor();
  await workbench.picture('model-4-last-graph');
  assert.match(await workbench.option(/json/).first().innerText(), /^middle_rpg\.json\s*last used/);
  await workbench.input().press('Enter');
  await asked('Generate the repository in which folder?');
  assert.equal(await workbench.input().inputValue(), 'made');
  await workbench.page.keyboard.press('Escape');
}
