// Foreign text in notifications contains no links.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutLinks } from '../../src/sidecar/link_free_text';

/** The editor's pattern for links in notifications. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;

test('a notification shows the text of a link without the link', () => {
  const table = [
    ['see [its output](command:workbench.action.terminal.sendSequence?%5B%5D)', 'see [its output] (command:'],
    ['[[x](command:a)](command:b "c")', 'command:b'],
    ['a [b](https://example.org) c', '[b] (https'],
    ['plain words, f(x)[0](y)', 'plain words, f(x)[0] (y)'],
  ] as const;
  for (const [text, part] of table) {
    assert.ok(!withoutLinks(text).match(LINK), withoutLinks(text));
    assert.ok(withoutLinks(text).includes(part), withoutLinks(text));
  }
  assert.equal(withoutLinks('x'.repeat(9_000)).length, 2_001);
});

test('all notifications go through notify.ts', () => {
  const sources = join(process.env.TRELLIS_REPOSITORY ?? '', 'extension', 'src');
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((it) =>
    it.endsWith('.ts'),
  );
  assert.ok(files.length > 50, 'the sources were found');
  const others = files.filter((it) => !it.endsWith(join('sidecar', 'notify.ts')));
  for (const it of others) {
    assert.ok(!/show(Information|Warning|Error)Message/.test(readFileSync(join(sources, it), 'utf8')), it);
  }
});
