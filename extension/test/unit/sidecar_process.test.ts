// Search, restart and errors of the sidecar.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { LogOutputChannel } from 'vscode';
import { TrellisError } from '../../src/sidecar/api';
import { type BinaryLocations, findBinary, type Probe, probeFile } from '../../src/sidecar/binary';
import { errorActionOf, errorText, isCancelled, toTrellisError } from '../../src/sidecar/errors';
import { logLines, logVariables } from '../../src/sidecar/process';
import { RestartPolicy } from '../../src/sidecar/restart_policy';
import { serverSettings } from '../../src/sidecar/server_settings';
import { LogLevel } from './vscode';

const places: BinaryLocations = {
  setting: '',
  extension: '/ext',
  pathVariable: '/a:relative:/b',
  windows: false,
};
const only =
  (...there: string[]): Probe =>
  (path) =>
    there.includes(path) ? 'ok' : 'absent';

test('the setting comes before the bundled program, and that before PATH', () => {
  const bundled = '/ext/server-bin/trellis';
  const table: [string, BinaryLocations, Probe, unknown][] = [
    ['bundled', places, only(bundled, '/b/trellis'), { path: bundled, source: 'bundled' }],
    ['PATH', places, only('/b/trellis'), { path: '/b/trellis', source: 'path' }],
    ['no relative folder of PATH', places, only('relative/trellis'), misses('absent')],
    [
      'setting',
      { ...places, setting: '/mine' },
      only('/mine', bundled),
      { path: '/mine', source: 'setting' },
    ],
    ['a wrong setting', { ...places, setting: '/mine' }, only(bundled), [miss('/mine', 'absent')]],
    ['a relative setting', { ...places, setting: 'mine' }, only('mine'), [miss('mine', 'notAbsolute')]],
    ['one that may not run', places, () => 'notExecutable', misses('notExecutable')],
    [
      'Windows',
      { ...places, windows: true },
      only('/ext/server-bin/trellis.exe'),
      { path: '/ext/server-bin/trellis.exe', source: 'bundled' },
    ],
  ];
  for (const [name, given, probe, wanted] of table) assert.deepEqual(findBinary(given, probe), wanted, name);
});

const miss = (path: string, why: string) => ({ source: 'setting', path, why });
const misses = (why: string) => [
  { source: 'bundled', path: '/ext/server-bin/trellis', why },
  { source: 'path', path: '', why: 'absent' },
];

test('a program has to exist and be executable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-unit-'));
  try {
    const file = join(folder, 'trellis');
    assert.equal(probeFile(file), 'absent');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    assert.equal(probeFile(file), 'notExecutable');
    chmodSync(file, 0o755);
    assert.equal(probeFile(file), 'ok');
    assert.equal(probeFile(folder), 'absent', 'a folder is no program');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('five crashes in three minutes delay the restart longer each time, and one more is too many', () => {
  const restarts = new RestartPolicy();
  const delays = [0, 1000, 3000, 7000, 15000, 31000].map((now) => restarts.nextDelay(now));
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16000, undefined]);
  assert.equal(restarts.nextDelay(180_000), 16000, 'the first is forgotten after three minutes');
  restarts.reset();
  assert.equal(restarts.nextDelay(180_001), 1000, 'a person began anew');
});

test('everything that is thrown becomes a TrellisError', () => {
  const wire = Object.assign(new Error('there is no job'), {
    code: 65,
    data: { kind: 'badInput', hint: 'list them' },
  });
  const own = new TrellisError('a', 1, 'b', 'c');
  const table: [unknown, [string, number, string | undefined, string | undefined]][] = [
    [wire, ['there is no job', 65, 'list them', 'badInput']],
    [{ message: 'm', code: 2, data: { hint: null } }, ['m', 2, undefined, undefined]],
    [new Error('plain'), ['plain', -32603, undefined, undefined]],
    ['text', ['text', -32603, undefined, undefined]],
    [own, ['a', 1, 'b', 'c']],
  ];
  for (const [thrown, wanted] of table) {
    const { message, code, hint, kind } = toTrellisError(thrown);
    assert.deepEqual([message, code, hint, kind], wanted);
  }
});

test('an error is reported with an action that helps', () => {
  const table: readonly [string | undefined, string][] = [
    ['untrusted', 'workbench.trust.manage'],
    ['noModel', 'trellis.selectModel'],
    ['noKey', 'trellis.setApiKey'],
    ['of a newer sidecar', 'trellis.showOutput'],
    [undefined, 'trellis.showOutput'],
  ];
  for (const [kind, wanted] of table)
    assert.equal(errorActionOf({ kind, hint: undefined }, (it) => it).command, wanted);
  const { command, argument: given } = errorActionOf(
    { kind: 'unavailable', hint: 'raise `budgetUsd`' },
    (it) => it,
  );
  assert.deepEqual([command, given], ['workbench.action.openSettings', 'trellis.budget.usd']);
});

test('an error is described in sentences', () => {
  const table: [string, string | undefined, string][] = [
    ['no key', 'set one', 'no key. Set one'],
    ['Really?', 'yes', 'Really? Yes'],
    ['no key', undefined, 'no key'],
  ];
  for (const [message, hint, wanted] of table) {
    assert.equal(errorText(new TrellisError(message, 1, hint, undefined)), wanted);
  }
});

test('cancelled requests are recognized', () => {
  const table: [number, string | undefined, boolean][] = [
    [-32800, undefined, true],
    [130, undefined, true],
    [1, 'cancelled', true],
    [1, 'testsFailed', false],
  ];
  for (const [code, kind, wanted] of table) {
    assert.equal(isCancelled(new TrellisError('', code, undefined, kind)), wanted, `${code} ${kind}`);
  }
});

test('the sidecar gets known settings, and always makes lenses', () => {
  const read = (values: Record<string, unknown>) => (name: string) => values[name];
  const usual = {
    trusted: true,
    languageFeatures: 'auto',
    otherLanguageServer: false,
    codeLenses: true,
    testLenses: false,
    offerResume: false,
  };
  assert.deepEqual(serverSettings(read({}), true, false), usual);
  const set = { languageFeatures: 'off', codeLenses: false, 'codeLens.tests': true, offerResume: true };
  const wanted = {
    trusted: false,
    languageFeatures: 'off',
    otherLanguageServer: true,
    codeLenses: true,
    testLenses: true,
    offerResume: false,
  };
  assert.deepEqual(serverSettings(read(set), false, true), wanted);
  assert.deepEqual(serverSettings(read({ languageFeatures: 'sometimes' }), true, false), usual);
});

test("each line of the server's log has its level in the output channel", async () => {
  const seen: string[] = [];
  const at = (level: string) => (line: string) => seen.push(`${level}|${line}`);
  const levels = ['error', 'warn', 'info', 'debug', 'trace'];
  const output = Object.fromEntries(levels.map((it) => [it, at(it)])) as unknown as LogOutputChannel;
  const input = Readable.from(['error: a\nwarning: b\ndebug: c\n', 'trace: d\nplain text\n']);
  logLines(input, output);
  await new Promise((resolve) => input.once('close', resolve));
  await new Promise(setImmediate);
  assert.deepEqual(seen, [
    'error|error: a',
    'warn|warning: b',
    'debug|debug: c',
    'trace|trace: d',
    'info|plain text',
  ]);
});

test('the server logs at the level of the output channel, unless RUST_LOG is set', () => {
  assert.deepEqual(logVariables({}, LogLevel.Info), {});
  assert.deepEqual(logVariables({}, LogLevel.Debug), { RUST_LOG: 'trellis=debug' });
  assert.deepEqual(logVariables({}, LogLevel.Trace), { RUST_LOG: 'trellis=trace' });
  assert.deepEqual(logVariables({ RUST_LOG: 'warn' }, LogLevel.Trace), {});
});
