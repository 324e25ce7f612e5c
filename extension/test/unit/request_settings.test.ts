// Settings as parameters of methods.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { Decisions } from '../../src/approval/decisions';
import { PlanDraft } from '../../src/draft/draft';
import { DraftStore } from '../../src/draft/draft_store';
import { generate, resumeRun } from '../../src/generation/generate';
import { LastAnswers } from '../../src/generation/last_answers';
import { implementIssue } from '../../src/issue/implement';
import { JobStore } from '../../src/run/job_store';
import { requestSettings, settingReader } from '../../src/settings/request_settings';
import { type MethodWithSettings, type SettingsOf, settingsFor } from '../../src/settings/settings_of_method';
import { registerTasks } from '../../src/tasks/register';
import { testEnvironment } from '../../src/testing/debugging';
import { registerGeneratedTests } from '../../src/testing/generate_tests';
import { registerLensCommands } from '../../src/testing/lens_commands';
import { TestPreviews } from '../../src/testing/test_previews';
import {
  asClient,
  fixRequests,
  memento,
  openTestingView,
  resultOf,
  settled,
  type TestingFixture,
} from './fake_sidecar';
import { Disposable, editor, run, Uri } from './vscode';

beforeEach(() => {
  [editor.settings, editor.ofWorkspace, editor.ofFolder] = [{}, {}, {}];
});

/** A value of each setting, with the parameter and its value. */
const SETTINGS: Record<string, [unknown, string, unknown]> = {
  model: ['openai:x', 'model', 'openai:x'],
  simpleModel: ['openai:s', 'simpleModel', 'openai:s'],
  strongModel: ['openai:h', 'strongModel', 'openai:h'],
  'budget.usd': [1.5, 'budgetUsd', 1.5],
  'budget.tokens': [9000, 'budgetTokens', 9000],
  'budget.minutes': [3, 'budgetMinutes', 3],
  testTimeout: [9, 'testTimeout', 9],
  sandbox: ['local', 'sandbox', 'local'],
  'allow.memory': [4096, 'allow', { memory: 4096 }],
  interpreter: ['/envs/shop/bin/python', 'interpreter', '/envs/shop/bin/python'],
  approve: ['supervised', 'approve', 'supervised'],
  jobs: [4, 'jobs', 4],
  testsFolder: ['checks', 'testsDir', 'checks'],
  smallEdits: [5, 'trials', 5],
};

const MODELS = ['model', 'simpleModel', 'strongModel'];
const BUDGET = ['budget.usd', 'budget.tokens', 'budget.minutes'];
const TESTS = ['testTimeout', 'sandbox', 'allow.memory', 'interpreter'];
const WORK = [...MODELS, ...BUDGET, ...TESTS];
// A resumed run keeps its own options, without permissions of tests.
const RESUMED = [...BUDGET, 'allow.memory', 'interpreter'];

/** Settings of each method. */
const TAKES: Record<MethodWithSettings, string[]> = {
  'trellis/generate': [...WORK, 'approve', 'jobs'],
  resume: RESUMED,
  'trellis/retryNode': RESUMED,
  'trellis/tasks': [...WORK, 'jobs'],
  'trellis/repair': [...WORK, 'approve', 'smallEdits'],
  'trellis/implement': [...WORK, 'approve'],
  'trellis/generateTests': [...WORK, 'testsFolder'],
  'trellis/proposeFix': [...WORK, 'smallEdits'],
  'trellis/decideFix': TESTS,
  'trellis/runTests': TESTS,
  'trellis/environment': ['interpreter'],
  'trellis/draftPlan': [...MODELS, ...BUDGET],
};
const METHODS = Object.keys(TAKES).filter((it): it is MethodWithSettings => it in TAKES);

test('each setting is a parameter of the methods that take it', async () => {
  for (const method of METHODS) {
    for (const [name, [value, parameter, sent]] of Object.entries(SETTINGS)) {
      editor.settings = { [name]: value };
      const wanted = TAKES[method].includes(name) ? { [parameter]: sent } : {};
      assert.deepEqual(await requestSettings(method, '/p'), wanted, `${name} for ${method}`);
    }
  }
});

test('a method takes each setting that the sidecar has a parameter for', () => {
  const wire = readFileSync(join(process.env.TRELLIS_REPOSITORY ?? '', 'fixtures/wire/openrpc.json'), 'utf8');
  const methods: { name: string; params: { name: string }[] }[] = JSON.parse(wire).methods;
  // A resumed run has its own options.
  const fresh = METHODS.filter((it) => TAKES[it] !== RESUMED);
  for (const method of fresh) {
    const params = methods.find((it) => it.name === method)?.params.map((it) => it.name) ?? [];
    const wanted = Object.entries(SETTINGS).filter(([, [, parameter]]) => params.includes(parameter));
    assert.deepEqual([...TAKES[method]].sort(), wanted.map(([name]) => name).sort(), method);
  }
});

test('settings that are not set or invalid are not sent', () => {
  const table: [string, unknown][] = [
    ['model', ' '],
    ['budget.usd', null],
    ['budget.tokens', Number.NaN],
    ['jobs', 'many'],
    ['sandbox', 'moon'],
    ['allow.cores', 0],
    ['allow.readOnly', false],
    ['testsFolder', ''],
  ];
  const settings = Object.fromEntries(table);
  for (const method of METHODS)
    assert.deepEqual(
      settingsFor(method, (it) => settings[it], undefined),
      {},
    );
  const { budgetUsd } = settingsFor(
    'trellis/generate',
    (it) => (it === 'budget.usd' ? 0 : undefined),
    undefined,
  );
  assert.equal(budgetUsd, 0, 'no money at all');
});

test("permissions of tests are read from the person's own settings", () => {
  const settings: Record<string, unknown> = {
    'allow.env': { STAGE: 'test', PORT: 80, ODD: null },
    'allow.passEnv': ['TOKEN', 7],
    'allow.network': true,
    'allow.runSeconds': 60,
  };
  const allow = { env: ['STAGE=test', 'PORT=80'], passEnv: ['TOKEN'], network: true, runSeconds: 60 };
  assert.deepEqual(
    settingsFor('trellis/runTests', (it) => settings[it], undefined),
    { allow },
  );
  editor.ofFolder = { 'allow.network': true, model: 'a:folder' };
  editor.settings = { model: 'a:own' };
  const read = settingReader(Uri.file('/p') as never);
  assert.deepEqual([read('allow.network'), read('model')], [undefined, 'a:folder']);
});

test("the number of parallel tasks is limited to the sidecar's maximum", () => {
  const jobs = (method: 'trellis/tasks' | 'trellis/generate') =>
    settingsFor(method, (it) => (it === 'jobs' ? 64 : undefined), undefined).jobs;
  assert.deepEqual([jobs('trellis/tasks'), jobs('trellis/generate')], [16, 64]);
});

/** Actions of a person that send each method. */
const ASKS: Record<MethodWithSettings, (fixture: TestingFixture, jobStore: JobStore) => Promise<unknown>> = {
  'trellis/generate': ({ sidecar }, jobStore) =>
    generate(asClient(sidecar), jobStore, { graph: '/p/rpg.json', out: '/p' }, new LastAnswers(memento())),
  resume: ({ sidecar }, jobStore) => resumeRun(asClient(sidecar), jobStore, '/p'),
  'trellis/retryNode': () => run('trellis.retryNode', { node: 'n', out: '/p' }),
  'trellis/tasks': () => run('trellis.tasks', { file: '/p/tasks.json', stack: 's', out: '/p' }),
  'trellis/repair': () => run('trellis.repair', { root: '/p' }),
  'trellis/implement': ({ sidecar }) => implementIssue(asClient(sidecar), Uri.file('/p/spec.md') as never),
  'trellis/generateTests': () =>
    run('trellis.generateTests', { function: { filePath: '/p/a.py', name: 'f' } }),
  'trellis/proposeFix': ({ sidecar }) => fixRequests(sidecar).propose({ root: '/p', test: 'a.py::t' }),
  'trellis/decideFix': ({ sidecar }) => decided(sidecar),
  'trellis/runTests': ({ view }) => view.refreshHandler?.(undefined) ?? Promise.resolve(),
  'trellis/draftPlan': ({ sidecar }) => {
    const tabs = { show: async () => {} } as never;
    const draft = new PlanDraft(asClient(sidecar), new DraftStore(memento()), tabs);
    return draft.begin({ spec: '/p/spec.md', out: '/p/plan.json' });
  },
  'trellis/environment': ({ sidecar }) => testEnvironment(asClient(sidecar), '/p', undefined).catch(() => {}),
};

async function decided(sidecar: TestingFixture['sidecar']): Promise<void> {
  const parts = { queue: new Map(), confirmDiscard: async () => true } as never;
  const decisions = new Decisions(asClient(sidecar), parts, parts, parts);
  await decisions.decide({ root: '/p', fix: 'fix-1' }, { decision: 'accept' });
}

test('every request contains the settings of its method', async () => {
  editor.settings = Object.fromEntries(Object.entries(SETTINGS).map(([name, [value]]) => [name, value]));
  for (const method of METHODS) {
    const fixture = openTestingView('/p');
    const client = asClient(fixture.sidecar);
    const jobStore = new JobStore(client);
    const parts = [
      jobStore,
      registerTasks(client, jobStore),
      ...registerLensCommands(client, jobStore, fixture.testing),
      ...registerGeneratedTests(client, fixture.testing, new TestPreviews(memento())),
    ];
    const asked = method === 'resume' ? 'trellis/generate' : method;
    fixture.sidecar.answers[asked] = () => (asked === 'trellis/runTests' ? resultOf('/p') : { job: 'job-1' });
    await ASKS[method](fixture, jobStore);
    await settled();
    const [sent = {}] = fixture.sidecar.params(asked);
    const wanted: SettingsOf<MethodWithSettings> = await requestSettings(method, '/p');
    const names = Object.values(SETTINGS).map(([, parameter]) => parameter);
    const known = Object.fromEntries(Object.entries(sent).filter(([name]) => names.includes(name)));
    assert.deepEqual(known, wanted, method);
    Disposable.from(...parts).dispose();
  }
});

test('choices for a run override settings', async () => {
  editor.settings = { model: 'a:set' };
  const { sidecar } = openTestingView('/p');
  sidecar.answers['trellis/generate'] = () => ({ job: 'job-1' });
  const jobStore = new JobStore(asClient(sidecar));
  const answers = new LastAnswers(memento());
  const request = { graph: '/p/rpg.json', out: '/p/out', model: 'a:chosen' };
  await generate(asClient(sidecar), jobStore, request, answers);
  assert.deepEqual([answers.graph, answers.folderOf('/p/rpg.json')], ['/p/rpg.json', '/p/out']);
  assert.equal(answers.folderOf('/p/other.json'), undefined);
  assert.deepEqual(sidecar.params('trellis/generate'), [
    { graph: '/p/rpg.json', out: '/p/out', model: 'a:chosen' },
  ]);
  jobStore.dispose();
});
