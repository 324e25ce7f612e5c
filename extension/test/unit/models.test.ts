// Conversations and model names in the form of the editor's models.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findModel, toTurns } from '../../src/models/chat_turns';
import { modelItems } from '../../src/models/model_items';
import type { ModelMessage } from '../../src/models/model_messages';
import { pickModel } from '../../src/models/model_picker';
import { noKeys, PROVIDERS, providerOf, providersWithKey } from '../../src/models/providers';
import { openModelSettings, savedText, saveModel, targetOf } from '../../src/models/save_model';
import { FakeSidecar } from './fake_sidecar';
import { ConfigurationTarget, editor, lm, workspace as open, window } from './vscode';

const says = (role: ModelMessage['role'], text: string, more: Partial<ModelMessage> = {}): ModelMessage => ({
  role,
  text,
  toolCalls: [],
  toolResults: [],
  ...more,
});

test('a conversation becomes alternating turns, with calls and results', () => {
  const call = { id: '1', name: 'grep', arguments: { word: 'x' } };
  const result = { id: '1', name: 'grep', text: 'none', isError: false };
  const made = toTurns([
    says('system', 'rules'),
    says('user', 'fix it'),
    says('assistant', '', { toolCalls: [call] }),
    says('user', 'well?', { toolResults: [result] }),
    says('assistant', ''),
  ]);
  assert.deepEqual(made, [
    { role: 'user', parts: [{ kind: 'text', text: 'rules\n\nfix it' }] },
    { role: 'assistant', parts: [{ kind: 'call', id: '1', name: 'grep', input: { word: 'x' } }] },
    {
      role: 'user',
      parts: [
        { kind: 'result', id: '1', text: 'none' },
        { kind: 'text', text: 'well?' },
      ],
    },
  ]);
});

test('a model is found by id, vendor and id, family or name, in this order', () => {
  const model = (id: string, family: string, name: string) => ({ id, family, name, vendor: 'v' });
  const [a, b, c] = [model('a', 'f', 'Big'), model('b', 'a', 'Small'), model('c', 'f', 'b')];
  const table: [string, unknown][] = [
    ['', a],
    ['a', a],
    ['v/b', b],
    ['f', a],
    ['b', b],
    ['Big', a],
    ['none', undefined],
  ];
  for (const [name, wanted] of table) assert.equal(findModel([a, b, c], name), wanted, name);
  assert.equal(findModel([], ''), undefined);
});

test('providers and their keys are those of the sidecar', () => {
  const source = join(process.env.TRELLIS_REPOSITORY ?? '', 'server/trellis_llm/src/providers.rs');
  const text = readFileSync(source, 'utf8');
  const names = [...text.matchAll(/^ {8}name: "(\w+)"/gm)].map((it) => it[1]);
  assert.deepEqual(
    names.toSorted(),
    PROVIDERS.map((it) => it.name),
  );
  for (const { key } of providersWithKey()) assert.ok(text.includes(`variable: "${key}"`), key);
});

test('the provider of a model precedes the colon', () => {
  assert.equal(providerOf('openai:gpt-5:mini')?.key, 'OPENAI_API_KEY');
  for (const other of ['editor', 'recorded:/x.jsonl', '']) assert.equal(providerOf(other), undefined);
});

test('a process without keys does not get those of the editor', () => {
  const names = providersWithKey().map((it) => it.key);
  const editor = { ...process.env, ...Object.fromEntries(names.map((it) => [it, 'secret'])) };
  const held = (env: NodeJS.ProcessEnv) =>
    execFileSync(
      process.execPath,
      ['-p', `${JSON.stringify(names)}.filter((it) => it in process.env).length`],
      {
        env,
        encoding: 'utf8',
      },
    ).trim();
  assert.equal(held(editor), String(names.length));
  assert.equal(held({ ...editor, ...noKeys() }), '0');
});

test('a model is saved in the user settings, unless the workspace has one', async () => {
  const { Global, Workspace, WorkspaceFolder } = ConfigurationTarget;
  const table: [string, (string | undefined)[], ConfigurationTarget, (string | undefined)[]][] = [
    ['a:new', [undefined, undefined, undefined], Global, ['a:new', undefined, undefined]],
    ['a:new', ['a:old', undefined, undefined], Global, ['a:new', undefined, undefined]],
    ['a:new', ['a:old', 'a:old', undefined], Workspace, ['a:old', 'a:new', undefined]],
    ['a:new', [undefined, 'a:old', 'a:old'], WorkspaceFolder, [undefined, 'a:old', 'a:new']],
    ['', ['a:old', undefined, undefined], Global, [undefined, undefined, undefined]],
    ['', [undefined, 'a:old', undefined], Workspace, [undefined, undefined, undefined]],
    ['', ['a:old', 'a:old', undefined], Workspace, ['a:old', '', undefined]],
  ];
  for (const [model, [own, workspace, folder], wanted, after] of table) {
    editor.settings = { model: own };
    editor.ofWorkspace = { model: workspace };
    editor.ofFolder = { model: folder };
    open.workspaceFile = folder === undefined ? undefined : 'all.code-workspace';
    assert.equal(await saveModel(model, undefined), wanted);
    const levels = [editor.settings, editor.ofWorkspace, editor.ofFolder].map((it) => it.model);
    assert.deepEqual(levels, after);
  }
  open.workspaceFile = undefined;
  assert.equal(targetOf({ workspaceValue: 'a:b', workspaceFolderValue: 'a:b' }, false), Workspace);
  [editor.settings, editor.ofWorkspace, editor.ofFolder] = [{}, {}, {}];
  assert.equal(savedText('a:b', Global), 'Model set to a:b in your user settings.');
  assert.match(savedText('', Workspace), /^Model set to the model from .* for this workspace\.$/);
  await openModelSettings(Global);
  await openModelSettings(Workspace);
  assert.deepEqual(editor.ran.splice(0), [
    ['workbench.action.openSettings', 'trellis.model'],
    ['workbench.action.openWorkspaceSettings', { query: 'trellis.model' }],
  ]);
});

test('models have their prices, the one in use is first, and a name can be entered', () => {
  const t = (text: string, ...values: (string | number)[]) =>
    text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));
  const models = [
    { model: 'openai:a', inputUsd: 0.25, outputUsd: 2, contextTokens: 400_000 },
    { model: 'openai:b:c', label: 'Big C' },
  ];
  assert.deepEqual(modelItems({ provider: 'openai', models }, 'openai:b:c', t), [
    { label: 'b:c', description: 'in use · Big C', model: 'openai:b:c' },
    {
      label: 'a',
      description: '$0.25 in, $2 out per million tokens · 400k tokens of context',
      model: 'openai:a',
    },
    { label: 'Other…', description: 'enter a name' },
  ]);
});

test("the editor's own models are offered first, others as their service lists them", async () => {
  const sidecar = new FakeSidecar();
  const models = [{ model: 'openai:a', inputUsd: 1, outputUsd: 2 }];
  sidecar.answers['trellis/listModels'] = () => ({ providers: [{ provider: 'openai', models }] });
  const selectChatModels = lm.selectChatModels;
  lm.selectChatModels = async () => [{ id: 'small', name: 'Small', vendor: 'v' }];
  const pick = async (...labels: string[]) => {
    const shown: string[][] = [];
    window.showQuickPick = async (items) => {
      const rows = items.filter((it) => it.kind !== -1);
      shown.push(rows.map((it) => it.label));
      return rows.find((it) => it.label === labels[shown.length - 1]);
    };
    const model = await pickModel(sidecar as never, 'openai:a', '/p');
    return { model, shown };
  };
  const own = await pick('Small');
  assert.equal(own.model, 'editor:small');
  assert.deepEqual(own.shown[0]?.slice(0, 3), ['Small', 'Any', 'OpenAI'], 'the provider in use comes first');
  assert.equal(sidecar.requests.length, 0, 'no service is asked without need');
  const listed = await pick('OpenAI', 'a');
  assert.equal(listed.model, 'openai:a');
  assert.deepEqual(listed.shown[1], ['a', 'Other…']);
  assert.deepEqual(sidecar.requests, [['trellis/listModels', { provider: 'openai', root: '/p' }]]);
  assert.equal((await pick('OpenAI', 'Other…')).model, 'openai:42', 'the entered name');
  sidecar.answers['trellis/listModels'] = () => ({ providers: [{ provider: 'ollama', models: [] }] });
  assert.equal((await pick('Ollama')).model, 'ollama:42', 'a service that lists none');
  assert.equal((await pick('As configured')).model, '');
  lm.selectChatModels = selectChatModels;
});
