// A repository is generated with models of another extension.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { laneNamed, wanted } from '../lane/lanes';
import { other } from '../lane/other';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';

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
