// Edited texts: as bytes, as editors show them, and on the disk.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Drafts } from '../../src/approval/drafts';
import type { TextRef } from '../../src/approval/proposal_uri';
import { decodeUtf8, encodeUtf8, isSameInEditor } from '../../src/approval/text_encoding';

test('bytes have a byte order mark, and other encodings are not decoded', () => {
  for (const text of ['', 'a\r\n', 'Café\n', '\ufeffCafé\n']) {
    const bytes = encodeUtf8(text);
    assert.deepEqual([...bytes.slice(0, 3)], [0xef, 0xbb, 0xbf]);
    assert.equal(decodeUtf8(bytes), text.replace('\ufeff', ''));
  }
  const table: [number[], string | undefined][] = [
    [[0x61], 'a'],
    [[0x43, 0xe9], undefined],
    // Another encoding that is valid UTF-8.
    [[0xc3, 0xa9], undefined],
    [[0xff, 0xfe, 0x61, 0x00], undefined],
  ];
  for (const [bytes, text] of table) assert.equal(decodeUtf8(Uint8Array.from(bytes)), text, String(bytes));
});

test('texts with other line ends or byte order marks are the same, with other letters not', () => {
  assert.ok(isSameInEditor('\ufeffa\r\nb\nc\rd', 'a\nb\nc\nd'));
  for (const other of ['a', 'a\n\n', 'b\n', 'Ã©\n']) assert.ok(!isSameInEditor('é\n', other), other);
});

const place = (fix: string, path = 'a.py'): TextRef => ({
  root: '/p',
  fix,
  revision: 1,
  path,
  side: 'proposed',
});

test('drafts outlive the window until their proposal is decided', async (context) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'trellis-drafts-')), 'made');
  context.after(() => rmSync(folder, { recursive: true }));
  const before = new Drafts(folder);
  assert.deepEqual(await before.all(), []);
  const drafts = [place('fix-1'), place('fix-1', 'b.py'), place('fix-2')].map((it, mtime) => ({
    place: it,
    text: `é ${mtime}\r\n`,
    mtime,
  }));
  for (const it of drafts) await before.put(it);
  writeFileSync(join(folder, 'strange.json'), '{"place": 1}');
  const next = new Drafts(folder);
  assert.deepEqual(await next.get(place('fix-2')), drafts[2]);
  assert.equal((await next.of(place('fix-1'))).length, 2);
  await next.forget(place('fix-1'));
  assert.deepEqual(await new Drafts(folder).all(), drafts.slice(2));
});

test('the oldest of too many drafts is deleted', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-drafts-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const drafts = new Drafts(folder);
  for (let mtime = 0; mtime <= 100; mtime += 1)
    await drafts.put({ place: place(`fix-${mtime}`), text: '', mtime });
  assert.equal(await drafts.get(place('fix-0')), undefined);
  assert.equal(readdirSync(folder).length, 100);
});
