// The form of a planned node: its input as edits, and its messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../src/panel/graph_messages';
import { editsOf, type FormNode } from '../../src/panel/plan_form';

const node: FormNode = {
  id: 'units.convert',
  name: 'convert',
  kind: 'function',
  filePath: 'src/units.py',
  subgraph: 'units',
  signature: 'def convert(x)',
  docstring: 'Convert.',
  examples: ['convert(1) == 1'],
  dependsOn: [],
  usedBy: [],
  editable: true,
};
const input = {
  name: 'convert',
  signature: 'def convert(x)',
  docstring: 'Convert.',
  examples: ['convert(1) == 1', ''],
};

test('input without a change makes no edit', () => {
  assert.deepEqual(editsOf(node, input), []);
  assert.deepEqual(editsOf({ ...node, docstring: null }, { ...input, docstring: '' }), []);
  // A field has only line feeds, and an example no blanks around it.
  const windows = { ...node, docstring: 'One.\r\nTwo.', examples: ['convert(1) == 1\n'] };
  assert.deepEqual(editsOf(windows, { ...input, docstring: 'One.\nTwo.' }), []);
});

test('only what changed is set, what is empty is removed, and a new name comes last', () => {
  const changed = { name: ' exchange ', signature: '', docstring: 'Exchange.', examples: ['a', ' ', 'b'] };
  assert.deepEqual(editsOf(node, changed), [
    {
      operation: 'set',
      node: 'units.convert',
      fields: { docstring: 'Exchange.', examples: ['a', 'b'] },
      remove: ['signature'],
    },
    { operation: 'rename', node: 'units.convert', name: 'exchange' },
  ]);
  assert.deepEqual(editsOf(node, { ...input, name: ' ' }), [], 'a node keeps its name');
});

test('messages of the form are read, and what is no edit is left out', () => {
  const edits = [
    { operation: 'link', node: 'a', needed: 'b' },
    { operation: 'unlink', node: 'a' },
    { operation: 'remove', node: 'a', withParts: false },
    { operation: 'explode', node: 'a' },
    { operation: 'set', node: 'a', fields: { docstring: 'D.', other: 1 }, remove: ['signature', 'id'] },
  ];
  assert.deepEqual(parseMessage({ type: 'edit', id: 'a', edits }), {
    type: 'edit',
    id: 'a',
    edits: [
      { operation: 'link', node: 'a', needed: 'b' },
      { operation: 'remove', node: 'a', withParts: false },
      { operation: 'set', node: 'a', fields: { docstring: 'D.' }, remove: ['signature'] },
    ],
  });
  assert.equal(parseMessage({ type: 'edit', id: 'a' }), undefined);
});
