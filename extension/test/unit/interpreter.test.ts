// The Python interpreter of the tests.
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, mock, test } from 'node:test';
import { interpreterOf, onInterpreter, setInterpreterLog } from '../../src/settings/interpreter';
import { editor, extensions, Uri, workspace } from './vscode';

const place = Uri.file('/p') as never;

beforeEach(() => {
  workspace.isTrusted = true;
  editor.folders = [{ name: 'p', uri: Uri.file('/p') }];
  editor.settings = {};
  extensions.installed = {};
  extensions.activated = [];
});

/** Makes the API of the Python extension, which knows one environment. */
function python(environment: unknown, executable: string) {
  return {
    ready: Promise.resolve(),
    environments: {
      getActiveEnvironmentPath: (it: Uri) => ({ id: `active of ${it.fsPath}` }),
      resolveEnvironment: async ({ id }: { id: string }) =>
        id === 'active of /p' ? { environment, executable: { uri: Uri.file(executable) } } : undefined,
    },
  };
}

/** Makes the API of the Python Environments extension. */
function environments(managerId: string, executable: string) {
  const chosen = { envId: { managerId }, execInfo: { run: { executable } }, environmentPath: Uri.file('/e') };
  return { getEnvironment: async (it: Uri) => (it.fsPath === '/p' ? chosen : undefined) };
}

test('the setting chooses the interpreter, relative to the folder', async () => {
  const table: [string, string][] = [
    [' /envs/shop ', '/envs/shop'],
    ['.venv/bin/python', '/p/.venv/bin/python'],
    [`\${workspaceFolder}/env`, '/p/env'],
    ['~/envs/shop', join(homedir(), 'envs/shop')],
  ];
  extensions.installed = { 'ms-python.python': python({ type: 'VirtualEnvironment' }, '/other') };
  for (const [interpreter, path] of table) {
    editor.settings = { interpreter, sandbox: 'docker' };
    assert.deepEqual(await interpreterOf(place), { path, origin: 'from your settings' });
  }
});

test('without a setting, the environment selected in an extension is used', async () => {
  const venv = { type: 'VirtualEnvironment' };
  const ofPython = 'from the Python extension';
  const ofEnvironments = 'from the Python Environments extension';
  const table: [string, Record<string, unknown>, string | undefined, string?][] = [
    ['none is installed', {}, undefined],
    [
      'an environment',
      { 'ms-python.python': python(venv, '/envs/a/bin/python') },
      '/envs/a/bin/python',
      ofPython,
    ],
    ['a global interpreter', { 'ms-python.python': python(undefined, '/usr/bin/python3') }, undefined],
    [
      'the newer extension',
      { 'ms-python.vscode-python-envs': environments('ms-python.python:venv', '/envs/b/bin/python') },
      '/envs/b/bin/python',
      ofEnvironments,
    ],
    [
      'its system manager',
      { 'ms-python.vscode-python-envs': environments('ms-python.python:system', '/usr/bin/python3') },
      undefined,
    ],
    [
      'a program by name alone',
      { 'ms-python.vscode-python-envs': environments('ms-python.python:conda', 'python') },
      '/e',
      ofEnvironments,
    ],
    [
      'both, of which the first knows no environment',
      {
        'ms-python.python': python(undefined, '/usr/bin/python3'),
        'ms-python.vscode-python-envs': environments('ms-python.python:venv', '/envs/b/bin/python'),
      },
      '/envs/b/bin/python',
      ofEnvironments,
    ],
  ];
  for (const [name, installed, path, origin] of table) {
    extensions.installed = installed;
    assert.deepEqual(await interpreterOf(place), path === undefined ? undefined : { path, origin }, name);
  }
});

test('no extension is asked with Docker, or in a folder without trust', async () => {
  extensions.installed = { 'ms-python.python': python({}, '/envs/a/bin/python') };
  editor.settings = { sandbox: 'docker' };
  assert.equal(await interpreterOf(place), undefined);
  editor.settings = {};
  workspace.isTrusted = false;
  assert.equal(await interpreterOf(place), undefined);
  assert.deepEqual(extensions.activated, []);
});

test('an extension with a wrong or no answer delays nothing, and is logged once', async () => {
  const said: string[] = [];
  setInterpreterLog((it) => said.push(it));
  extensions.installed = { 'ms-python.python': { ready: Promise.resolve(), environments: {} } };
  for (const _ of [1, 2]) assert.equal(await interpreterOf(place), undefined);
  mock.timers.enable({ apis: ['setTimeout'] });
  extensions.installed = { 'ms-python.vscode-python-envs': { getEnvironment: () => new Promise(() => {}) } };
  const asked = interpreterOf(place);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  mock.timers.tick(5_000);
  assert.equal(await asked, undefined);
  mock.timers.reset();
  assert.deepEqual(said, [
    'ms-python.python did not report the selected Python: its interface has no getActiveEnvironmentPath',
    'ms-python.vscode-python-envs did not report the selected Python: no answer within 5 s',
  ]);
});

test('the interpreter that was found last is reported', async () => {
  const told: unknown[] = [];
  const listening = onInterpreter((it) => told.push(it?.path));
  editor.settings = { interpreter: '/envs/shop' };
  await interpreterOf(place);
  listening.dispose();
  assert.deepEqual(told, ['/envs/shop']);
});
