import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, selected } from '../../scripts/selection.mjs';

const files = ['host', 'nodes', 'repair', 'approval', 'first', 'folders', 'languages'].map(
  (it) => `/built/${it}.test.js`,
);

interface Wanted {
  readonly short?: boolean;
  readonly whole?: boolean;
  readonly named?: string;
}

const names = (wanted: Wanted) => selected(files, wanted).map(nameOf);

test('a lane runs its files among the named ones', () => {
  const table: [Wanted, string[]][] = [
    [{}, ['nodes', 'approval', 'first', 'folders', 'repair', 'host']],
    [{ whole: true }, ['languages', 'nodes', 'approval', 'first', 'folders', 'repair', 'host']],
    [{ named: 'lang' }, ['languages']],
    [{ short: true }, ['first', 'host']],
    [{ named: 'repair' }, ['repair']],
    [{ short: true, named: 'o' }, ['host']],
    // Another lane has it.
    [{ short: true, named: 'repair' }, []],
  ];
  for (const [wanted, expected] of table) assert.deepEqual(names(wanted), expected);
});

test('an unknown name is refused in every lane', () => {
  for (const short of [true, false])
    assert.throws(() => names({ short, named: 'repare' }), /no test file is called \*repare\*/);
});
