// Trellis for the agents of the editor: its MCP server, offered without configuration.

import * as vscode from 'vscode';
import { type Disposable, type Event, EventEmitter, lm, version, workspace } from 'vscode';

/** Id of the provider, as in package.json. */
const PROVIDER = 'trellis';

/** Definition of a server that the editor starts; the used part of the editor's class. */
interface ServerDefinition {
  readonly label: string;
}

/** The part of the editor's interface that VS Code has from 1.101 on. */
interface McpApi {
  registerMcpServerDefinitionProvider(
    id: string,
    provider: {
      readonly onDidChangeMcpServerDefinitions: Event<void>;
      provideMcpServerDefinitions(): ServerDefinition[];
    },
  ): Disposable;
}

/** The editor's class of definitions; VS Code has it from 1.101 on. */
type DefinitionClass = new (
  label: string,
  command: string,
  args: string[],
  env: Record<string, string>,
  version: string,
) => ServerDefinition;

/**
 * Offers the MCP server of each open folder that is trusted. Does nothing in editors without MCP.
 * @param program finds the program of the sidecar; `undefined` if there is none
 */
export function offerMcpServer(program: () => string | undefined, ownVersion: string): Disposable[] {
  const api = lm as unknown as Partial<McpApi>;
  // Other editors have the version without the interface.
  if (!hasMcp(version) || api.registerMcpServerDefinitionProvider === undefined) return [];
  const { McpStdioServerDefinition } = vscode as unknown as {
    readonly McpStdioServerDefinition: DefinitionClass;
  };
  const changes = new EventEmitter<void>();
  const definitions = () => {
    const path = program();
    const folders = workspace.workspaceFolders ?? [];
    if (path === undefined || !workspace.isTrusted || folders.length === 0) return [];
    const roots = folders.map((it) => it.uri.fsPath);
    return [new McpStdioServerDefinition('Trellis', path, ['mcp', ...roots], {}, ownVersion)];
  };
  return [
    changes,
    workspace.onDidChangeWorkspaceFolders(() => changes.fire()),
    workspace.onDidGrantWorkspaceTrust(() => changes.fire()),
    api.registerMcpServerDefinitionProvider(PROVIDER, {
      onDidChangeMcpServerDefinitions: changes.event,
      provideMcpServerDefinitions: definitions,
    }),
  ];
}

/** Returns whether a version of the editor takes MCP servers from extensions: from 1.101 on. */
export function hasMcp(editor: string): boolean {
  const [major = 0, minor = 0] = editor.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 101);
}
