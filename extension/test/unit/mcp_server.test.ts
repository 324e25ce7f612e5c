// The MCP server that the editor's agents are offered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMcp, offerMcpServer } from '../../src/sidecar/mcp_server';
import { Disposable, editor, lm, mcp, Uri, workspace } from './vscode';

test('agents are offered the open folders that are trusted, in editors that take servers', () => {
  editor.folders = ['/p', '/q'].map((path) => ({ name: path, uri: Uri.file(path) }));
  const path: { program: string | undefined } = { program: '/bin/trellis' };
  const parts = offerMcpServer(() => path.program, '1.2.3');
  const offered = () => mcp.provider?.provideMcpServerDefinitions();
  const wanted = {
    label: 'Trellis',
    command: '/bin/trellis',
    args: ['mcp', '/p', '/q'],
    env: {},
    version: '1.2.3',
  };
  assert.deepEqual(
    offered()?.map((it) => ({ ...it })),
    [wanted],
  );
  workspace.isTrusted = false;
  assert.deepEqual(offered(), []);
  workspace.isTrusted = true;
  path.program = undefined;
  assert.deepEqual(offered(), [], 'nothing is offered that cannot start');
  path.program = '/bin/trellis';
  editor.folders = [];
  assert.deepEqual(offered(), []);
  Disposable.from(...parts).dispose();
  const versions = ['1.100.3', '1.101.0', '1.139.1', '2.0.0', '0.200.0'];
  assert.deepEqual(versions.filter(hasMcp), ['1.101.0', '1.139.1', '2.0.0']);
});

test('an editor without the interface activates the extension, whatever its version', () => {
  const before = lm.registerMcpServerDefinitionProvider;
  Reflect.deleteProperty(lm, 'registerMcpServerDefinitionProvider');
  assert.deepEqual(
    offerMcpServer(() => '/bin/trellis', '1.2.3'),
    [],
  );
  lm.registerMcpServerDefinitionProvider = before;
});
