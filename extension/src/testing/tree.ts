// The tree of the Testing view: one item for each folder, file, class and test, known by folder and id.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Range, type TestController, type TestItem, Uri, workspace } from 'vscode';
import { isBelow, isInternal } from '../run/folders';
import type { DocumentLenses } from '../sidecar/client';
import { isWithin, stepsOf } from './ids';
import { lensesOf, testsOf } from './lens_marks';
import type { Outcome } from './outcomes';
import { lineRange } from './ranges';
import type { Target } from './types';

export class TestTree {
  private readonly targets = new WeakMap<TestItem, Target>();
  /** When the run began that a test's result is of, in milliseconds since 1970. */
  private readonly began = new WeakMap<TestItem, number>();

  /** By project, when its code was changed last. */
  private readonly changed = new Map<string, number>();
  /** Tests whose results are dimmed. */
  private readonly dimmed = new WeakSet<TestItem>();

  constructor(private readonly controller: TestController) {}

  /** The projects. */
  get roots(): readonly TestItem[] {
    return [...this.controller.items].map(([, it]) => it);
  }

  target(item: TestItem): Target | undefined {
    return this.targets.get(item);
  }

  /** The item of a project, made if need be. */
  root(root: string): TestItem {
    const known = this.controller.items.get(root);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(root, nameOf(root), Uri.file(root));
    made.canResolveChildren = true;
    this.targets.set(made, { root, id: '' });
    this.controller.items.add(made);
    return made;
  }

  /** The item of a test, made if need be, with all that are above it. */
  item(root: string, id: string): TestItem {
    let item = this.root(root);
    if (id === '') return item;
    const [file] = stepsOf(id);
    const uri = file === undefined ? undefined : Uri.file(join(root, file.id));
    for (const step of stepsOf(id)) item = this.child(item, { root, id: step.id }, step.label, uri);
    return item;
  }

  /**
   * Puts a test into the tree, at the place that its outcome tells.
   * @param began when its run did, in milliseconds since 1970, where the outcome does not tell the time of its texts
   */
  place(outcome: Outcome, began: number): TestItem {
    const item = this.item(outcome.root, outcome.id);
    this.began.set(item, outcome.textOf ?? began);
    this.dimmed.delete(item);
    // What runs could be read.
    this.item(outcome.root, stepsOf(outcome.id)[0]?.id ?? '').error = undefined;
    // What a document says of its own text is fresher than what the disk had.
    if (outcome.line !== undefined && item.range === undefined) item.range = lineRange(outcome.line - 1);
    return item;
  }

  /**
   * Forgets the tests that a project has no more: those of files that are gone, and of files with tests among these, which
   * are all of theirs. A file that was not looked at keeps its tests and their results.
   */
  keep(root: string, ids: Iterable<string>): void {
    const there = new Set([...ids].flatMap((id) => stepsOf(id).map((step) => step.id)));
    const item = this.root(root);
    for (const [key, file] of item.children) {
      const id = this.targets.get(file)?.id ?? '';
      if (there.has(id)) this.prune(file, (it) => there.has(it));
      else if (file.children.size === 0 || !existsSync(join(root, id))) item.children.delete(key);
    }
  }

  /**
   * Shows which files of a project could not be read for their tests, and why.
   * @param errors by id
   */
  errors(root: string, errors: ReadonlyMap<string, string>): void {
    const item = this.root(root);
    item.error = undefined;
    for (const [, file] of item.children) file.error = undefined;
    for (const [id, why] of errors) this.item(root, id).error = why;
  }

  /** Whether tests of a project, or one of them, have no place here: nothing below `.trellis` has. */
  isInternal(root: string, id = ''): boolean {
    return isInternal(openFolders(), join(root, stepsOf(id)[0]?.id ?? ''));
  }

  /** Says that the code of a project was changed. */
  change(root: string, time: number): void {
    this.changed.set(root, Math.max(this.changed.get(root) ?? 0, time));
  }

  /** Dims what ran before the code was changed. */
  dim(): void {
    const outdated = [...this.changed].flatMap(([root, time]) => this.ranBefore(root, time));
    const news = outdated.filter((it) => !this.dimmed.has(it));
    if (news.length > 0) this.controller.invalidateTestResults(news);
    for (const it of news) this.dimmed.add(it);
  }

  /** Whether a project lies in an open folder, or around one. */
  isOpen(root: string): boolean {
    return isBelow(openFolders(), root) || openFolders().some((it) => isBelow([root], it));
  }

  /** Tests of a project whose results are of runs that began before that time. */
  ranBefore(root: string, time: number): readonly TestItem[] {
    const below = (item: TestItem): TestItem[] => [
      item,
      ...[...item.children].flatMap(([, it]) => below(it)),
    ];
    return below(this.root(root)).filter((it) => (this.began.get(it) ?? time) < time);
  }

  /** The project that a path belongs to: the innermost; none where it lies in no project. */
  projectOf(path: string): string | undefined {
    const around = this.roots.map((it) => it.id).filter((it) => isBelow([it], path));
    return around.reduce<string | undefined>((a, b) => (a && a.length > b.length ? a : b), undefined);
  }

  /** Shows the open folders, and no project that lies in none of them. */
  showFolders(): void {
    const folders = openFolders();
    for (const folder of folders) this.root(folder);
    for (const it of this.roots) if (!isBelow(folders, it.uri?.fsPath)) this.controller.items.delete(it.id);
  }

  /** Forgets what lay in a file or folder that is gone; editors that write one anew delete it first. */
  deleted(path: string): void {
    if (existsSync(path)) return;
    for (const item of this.roots) {
      const root = item.id;
      if (isBelow([path], root) && workspace.getWorkspaceFolder(Uri.file(root))?.uri.fsPath !== root)
        this.controller.items.delete(root);
      else if (isBelow([root], path)) {
        const gone = relative(root, path).replaceAll('\\', '/');
        if (gone !== '') this.prune(item, (id) => !isWithin(gone, id));
      }
    }
  }

  /** Puts the tests of an open document where they stand now. */
  found({ document, lenses }: DocumentLenses): void {
    const path = document.uri.fsPath.replaceAll('\\', '/');
    if (isInternal(openFolders(), path)) return;
    const found = testsOf(path, lensesOf(lenses));
    for (const test of found) {
      const item = this.item(test.root, test.id);
      item.range = new Range(test.line, 0, test.endLine, 0);
    }
    const there = new Set(found.flatMap((it) => stepsOf(it.id).map((step) => step.id)));
    for (const item of this.roots) {
      const root = item.id;
      const file = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
      const known = file === undefined ? undefined : item.children.get(itemId({ root, id: file }));
      // A file does not say which parameters its tests have.
      if (known !== undefined) this.prune(known, (id) => id.includes('[') || there.has(id));
    }
  }

  private child(parent: TestItem, target: Target, label: string, uri: Uri | undefined): TestItem {
    const id = itemId(target);
    const known = parent.children.get(id);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(id, label, uri);
    made.sortText = label;
    this.targets.set(made, target);
    parent.children.add(made);
    return made;
  }

  /** Forgets what is gone, with all that is below it. */
  private prune(item: TestItem, isThere: (id: string) => boolean): void {
    for (const [key, child] of item.children) {
      const target = this.targets.get(child);
      if (target === undefined) continue;
      if (isThere(target.id)) this.prune(child, isThere);
      else item.children.delete(key);
    }
  }
}

function openFolders(): readonly string[] {
  return (workspace.workspaceFolders ?? []).map((it) => it.uri.fsPath);
}

/** Of an item below a folder's. */
function itemId({ root, id }: Target): string {
  return `${root}\n${id}`;
}

function nameOf(root: string): string {
  const folder = workspace.getWorkspaceFolder(Uri.file(root));
  return folder?.uri.fsPath === root ? folder.name : workspace.asRelativePath(root);
}
