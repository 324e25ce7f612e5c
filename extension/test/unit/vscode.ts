// A fake of the module `vscode` with the used parts.
import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import {
  type ConfigurationTarget,
  Disposable,
  EventEmitter,
  TabInputTextDiff,
  type Uri,
} from './vscode_values';

export * from './vscode_tests';
export * from './vscode_values';

export const l10n = {
  t(message: string | { message: string }, ...args: unknown[]): string {
    const text = typeof message === 'string' ? message : message.message;
    const [first] = args;
    const values = typeof first === 'object' && first !== null ? { ...first } : { ...args };
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const found = Object.entries(values).find(([key]) => key === name);
      return found === undefined ? whole : String(found[1]);
    });
  },
};

/** Files of open folders: `found` has them, and watchers report created, changed and deleted ones. */
export const files = {
  found: [] as { fsPath: string }[],
  asked: [] as { include: string; exclude: unknown }[],
  made: new Set<(it: { fsPath: string }) => void>(),
  changed: new EventEmitter<{ fsPath: string }>(),
  deleted: new EventEmitter<{ fsPath: string }>(),
};

interface Document {
  readonly uri: Uri;
  getText(): string;
  readonly isDirty?: boolean;
  save?(): Promise<boolean>;
}

/** Input of the person, and what the editor shows. */
export const editor = {
  folders: [] as { name: string; uri: Uri }[],
  /** Settings of the person, of the workspace, and of its folders. */
  settings: {} as Record<string, unknown>,
  ofWorkspace: {} as Record<string, unknown>,
  ofFolder: {} as Record<string, unknown>,
  trusted: new EventEmitter<undefined>(),
  opened: new EventEmitter<Document>(),
  saved: new EventEmitter<Document>(),
  edited: new EventEmitter<{ document: Document }>(),
  configured: new EventEmitter<{ affectsConfiguration(name: string): boolean }>(),
  /** Shown notifications, and the chosen button. */
  said: [] as string[],
  answer: undefined as string | undefined,
  /** Texts of progress notifications. */
  progress: [] as string[],
  /** Executed commands, and their results by name. */
  ran: [] as unknown[][],
  results: {} as Record<string, unknown>,
};

const never = () => new Disposable(() => undefined);

export const workspace = {
  isTrusted: true,
  workspaceFile: undefined as string | undefined,
  get workspaceFolders() {
    return editor.folders;
  },
  getWorkspaceFolder: ({ fsPath }: Uri) =>
    editor.folders.find((it) => `${fsPath}/`.startsWith(`${it.uri.fsPath}/`)),
  asRelativePath: (path: string | Uri) => {
    const whole = typeof path === 'string' ? path : path.fsPath;
    const around = editor.folders.find((it) => whole.startsWith(`${it.uri.fsPath}/`));
    return around === undefined ? whole : relative(around.uri.fsPath, whole);
  },
  fs: {
    readFile: async ({ fsPath }: Uri) => readFileSync(fsPath),
    stat: async ({ fsPath }: Uri) => statSync(fsPath),
  },
  getConfiguration: () => ({
    get: (name: string, otherwise?: unknown) =>
      editor.ofFolder[name] ?? editor.ofWorkspace[name] ?? editor.settings[name] ?? otherwise,
    inspect: (name: string) => ({
      globalValue: editor.settings[name],
      workspaceValue: editor.ofWorkspace[name],
      workspaceFolderValue: editor.ofFolder[name],
    }),
    update: async (name: string, value: unknown, target: ConfigurationTarget) => {
      const all = [editor.settings, editor.ofWorkspace, editor.ofFolder];
      Object.assign(all[target - 1] ?? {}, { [name]: value });
    },
  }),
  onDidGrantWorkspaceTrust: editor.trusted.event,
  textDocuments: [] as Document[],
  onDidOpenTextDocument: editor.opened.event,
  onDidSaveTextDocument: editor.saved.event,
  onDidChangeTextDocument: editor.edited.event,
  onDidCloseTextDocument: never,
  onDidChangeWorkspaceFolders: never,
  onDidChangeConfiguration: editor.configured.event,
  registerTextDocumentContentProvider: never,
  findFiles: async (include: string, exclude: unknown) => {
    files.asked.push({ include, exclude });
    return files.found;
  },
  createFileSystemWatcher: () => ({
    onDidCreate: (hear: (it: { fsPath: string }) => void) => {
      files.made.add(hear);
      return new Disposable(() => files.made.delete(hear));
    },
    onDidChange: files.changed.event,
    onDidDelete: files.deleted.event,
    dispose: () => undefined,
  }),
};

const say = async (text: string) => {
  editor.said.push(text);
  return editor.answer;
};

interface PickedItem {
  readonly label: string;
  readonly kind?: number;
}

interface OpenTab {
  readonly input: TabInputTextDiff;
}

/** Open tabs with differences. */
export const tabs = {
  inputs: [] as OpenTab[],
  open: (modified: Uri) => tabs.inputs.push({ input: new TabInputTextDiff(modified, modified) }),
};

export const window = {
  activeTextEditor: undefined as undefined,
  /** Files that were shown. */
  shown: [] as Uri[],
  showTextDocument: async (uri: Uri) => void window.shown.push(uri),
  tabGroups: {
    get all() {
      return [{ tabs: tabs.inputs }];
    },
    get activeTabGroup() {
      return { activeTab: tabs.inputs.at(-1) };
    },
    close: async (closed: readonly OpenTab[]) => {
      tabs.inputs = tabs.inputs.filter((it) => !closed.includes(it));
    },
  },
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  showInputBox: async () => '42',
  showQuickPick: async (_: readonly PickedItem[]): Promise<unknown> => [],
  withProgress: async (
    { title }: { title?: string },
    work: (progress: unknown, token: unknown) => unknown,
  ) => {
    const report = ({ message }: { message?: string }) => editor.progress.push(`${title}: ${message}`);
    return await work({ report }, { onCancellationRequested: never });
  },
};

export enum ViewColumn {
  Beside = -2,
  Active = -1,
}

export enum QuickPickItemKind {
  Separator = -1,
  Default = 0,
}

/** Other extensions: their APIs by id, and the activated ones. */
export const extensions = {
  all: [] as unknown[],
  installed: {} as Record<string, unknown>,
  activated: [] as string[],
  getExtension: (id: string) => {
    const api = extensions.installed[id];
    if (api === undefined) return undefined;
    const activate = async () => {
      extensions.activated.push(id);
      return api;
    };
    return { activate };
  },
};

export const debug = {};

const registered = new Map<string, (...given: unknown[]) => unknown>();

/** Runs a command of the extension. */
export async function run(name: string, ...given: unknown[]): Promise<unknown> {
  return await registered.get(name)?.(...given);
}

export const commands = {
  registerCommand: (name: string, work: (...given: unknown[]) => unknown) => {
    registered.set(name, work);
    return new Disposable(() => registered.delete(name));
  },
  executeCommand: async (...given: unknown[]) => {
    editor.ran.push(given);
    return editor.results[String(given[0])];
  },
};

export const version = '1.139.1';

/** The provider of MCP servers that was registered. */
export const mcp = {
  provider: undefined as { provideMcpServerDefinitions(): readonly McpStdioServerDefinition[] } | undefined,
};

export class McpStdioServerDefinition {
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
    readonly env: Record<string, string>,
    readonly version: string,
  ) {}
}

export const lm = {
  selectChatModels: async (): Promise<unknown[]> => [],
  registerMcpServerDefinitionProvider: (_: string, provider: typeof mcp.provider) => {
    mcp.provider = provider;
    return never();
  },
};
