// The bill of materials: its content, and its validity.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';

interface Component {
  name: string;
  version?: string;
  purl?: string;
  licenses: ({ expression: string } | { license: { id?: string; name?: string } })[];
  hashes?: { alg: string; content: string }[];
}

function run(target: string) {
  const script = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension', 'scripts', 'bom.mjs');
  return spawnSync(process.execPath, [script, target], { encoding: 'utf8', maxBuffer: 1e8 });
}

function billed(target: string): { text: string; all: Component[] } {
  const { stdout, stderr, status } = run(target);
  assert.equal(status, 0, stderr);
  return { text: stdout, all: JSON.parse(stdout).components };
}

test('a bill of materials is valid, whole, and the same each time', async () => {
  const { text, all } = billed('linux-x64');
  const faults = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  assert.equal(faults, null);
  assert.equal(billed('linux-x64').text, text);
  const names = new Set(all.map((it) => it.name));
  // A crate of ours, an indirect dependency, one for this system, a bundled package, and data.
  for (const it of ['trellis_plan', 'itoa', 'landlock', 'cytoscape', 'static-minilm-256-int8'])
    assert.ok(names.has(it), it);
  // Dependencies of tests and builds are not part of the package.
  for (const it of ['proptest', 'mocha', 'typescript', 'esbuild']) assert.ok(!names.has(it), it);
});

test('parts of others have a version, a checksum and a known licence', () => {
  for (const it of billed('linux-x64').all.filter(({ purl }) => purl)) {
    assert.ok(it.version && it.hashes?.[0]?.content, JSON.stringify(it));
    for (const its of it.licenses) assert.ok('expression' in its || its.license.id, JSON.stringify(it));
  }
});

test('each system has its own bill, and an unknown one an error', () => {
  const has = (target: string) => billed(target).all.some((it) => it.name === 'windows-sys');
  assert.deepEqual([has('linux-x64'), has('win32-x64')], [false, true]);
  const { status, stderr } = run('beos-x86');
  assert.notEqual(status, 0);
  assert.match(stderr, /no sidecar is built for beos-x86; it is built for linux-x64/);
});
