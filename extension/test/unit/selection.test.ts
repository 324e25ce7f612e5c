import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, selected } from '../../scripts/selection.mjs';

const files = ['host', 'nodes', 'repair', 'approval', 'first', 'folders'].map((it) => `/built/${it}.test.js`);

const names = (wanted: { short?: boolean; named?: string }) => selected(files, wanted).map(nameOf);

test('a lane runs its files among the named ones', () => {
  const table: [{ short?: boolean; named?: string }, string[]][] = [
    [{}, ['nodes', 'approval', 'first', 'folders', 'repair', 'host']],
    [{ short: true }, ['approval', 'first', 'folders', 'host']],
    [{ named: 'repair' }, ['repair']],
    [{ short: true, named: 'o' }, ['approval', 'folders', 'host']],
    // Another lane has it.
    [{ short: true, named: 'repair' }, []],
  ];
  for (const [wanted, expected] of table) assert.deepEqual(names(wanted), expected);
});

test('an unknown name is refused in every lane', () => {
  for (const short of [true, false])
    assert.throws(() => names({ short, named: 'repare' }), /no test file is called \*repare\*/);
});
