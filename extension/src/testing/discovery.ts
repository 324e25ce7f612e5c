// Finds tests in the sources when a folder is opened and whenever they change. Nothing is executed.
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { type Disposable, l10n, type TextDocument, type Uri, workspace } from 'vscode';
import type { Client } from '../sidecar/client';
import { errorText, toTrellisError } from '../sidecar/errors';
import { FoundTestsInTree } from './found_tests';
import { nestedRuns } from './nested_runs';
import { isOwnFile, isSource, SOURCES } from './outdated';
import type { TestTree } from './tree';

/** Milliseconds in which changes are collected: a checkout changes many files, and a person types. */
const DELAY_MS = 200;

/** Files that decide which framework a project has, and settings of pytest. */
const SETTINGS: readonly string[] = [
  'pyproject.toml',
  'pytest.ini',
  '.pytest.ini',
  'pytest.toml',
  '.pytest.toml',
  'tox.ini',
  'setup.cfg',
  'package.json',
  'go.mod',
];

const WATCHED = `**/{${[...SOURCES.map((it) => `*.${it}`), ...SETTINGS].join(',')}}`;

/** Changed files of a project, relative to it; `undefined` for changes that may concern all of it. */
type Changes = Set<string> | undefined;

export class TestDiscovery {
  private readonly found: FoundTestsInTree;
  private readonly changes = new Map<string, Changes>();
  /** Frameworks of the projects. */
  private readonly frameworks = new Map<string, string>();
  /** Projects that show an error of the last search. */
  private readonly failed = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  /** The last search; searches follow each other, so that an older answer never replaces a newer one. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sidecar: Client,
    private readonly tree: TestTree,
  ) {
    this.found = new FoundTestsInTree(tree);
  }

  begin(): Disposable[] {
    const watcher = workspace.createFileSystemWatcher(WATCHED);
    // A file that is written at once into a new folder may have no event of its own.
    const folders = workspace.createFileSystemWatcher('**/*', false, true, true);
    const onDisk = ({ fsPath }: Uri) => this.changed(fsPath, false);
    const onEdit = (document: TextDocument) => {
      if (isSource(document.uri.fsPath)) this.changed(document.uri.fsPath, true);
    };
    return [
      watcher,
      folders,
      folders.onDidCreate((it) => {
        if (isFolder(it.fsPath)) onDisk(it);
      }),
      watcher.onDidCreate(onDisk),
      watcher.onDidChange(onDisk),
      watcher.onDidDelete(onDisk),
      workspace.onDidSaveTextDocument(({ uri }) => onDisk(uri)),
      workspace.onDidChangeTextDocument(({ document }) => onEdit(document)),
      workspace.onDidCloseTextDocument(onEdit),
      this.sidecar.onState((state) => {
        if (state === 'running') this.findAll();
      }),
      { dispose: () => clearTimeout(this.timer) },
    ];
  }

  /** Finds the tests of all projects. */
  findAll(): void {
    for (const { id } of this.tree.roots) void this.find(id);
  }

  /**
   * Finds the tests of a project, and of generated projects in it. Never rejects: the project shows the error.
   * @param paths of files to search, relative to the root; all files if left out
   * @returns the number of files with tests
   */
  async find(root: string, paths?: readonly string[]): Promise<number> {
    const search = this.last.then(() => this.search(root, paths));
    this.last = search;
    return await search;
  }

  /** Returns whether a project's framework can list tests without a run: pytest alone does. */
  canCollect(root: string): boolean {
    return (this.frameworks.get(root) ?? 'pytest') === 'pytest';
  }

  private async search(root: string, paths?: readonly string[]): Promise<number> {
    // Folders may be closed meanwhile, and while earlier searches run.
    const isClosed = () => this.tree.find(root, '') === undefined;
    if (isClosed()) return 0;
    const item = this.tree.root(root);
    try {
      const nested = paths === undefined ? await nestedRuns(this.sidecar, root) : [];
      const params = { root, ...(paths === undefined ? {} : { paths: [...paths] }) };
      const found = await this.sidecar.request('trellis/findTests', params);
      if (isClosed()) return 0;
      this.frameworks.set(root, found.framework);
      this.found.apply(found, paths);
      for (const it of nested.filter((it) => this.tree.isListed(it) && !this.tree.isInternal(it))) {
        this.tree.root(it);
        this.found.apply(await this.sidecar.request('trellis/findTests', { root: it }));
      }
      if (this.failed.delete(root)) item.error = undefined;
      return found.files.length;
    } catch (error) {
      this.failed.add(root);
      item.error = l10n.t('Could not find the tests: {0}', errorText(toTrellisError(error)));
      return 0;
    }
  }

  /** @param isEdit true for a document, whose tests alone change until it is saved */
  private changed(path: string, isEdit: boolean): void {
    const root = this.tree.projectOf(path);
    const file = root === undefined ? '' : relative(root, path).replaceAll('\\', '/');
    if (root === undefined || !isOwnFile(file) || this.tree.isInternal(root, file)) return;
    const before = this.changes.has(root) ? this.changes.get(root) : new Set<string>();
    this.changes.set(root, isEdit ? before?.add(file) : undefined);
    this.timer ??= setTimeout(() => this.findChanges(), DELAY_MS);
  }

  private findChanges(): void {
    this.timer = undefined;
    for (const [root, changes] of this.changes) void this.find(root, changes && [...changes]);
    this.changes.clear();
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
