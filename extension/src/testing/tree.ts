// The tree of the Testing view, with an item for each folder, file, class and test.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Range, type TestController, type TestItem, Uri, workspace } from 'vscode';
import { isBelow, isInternal } from '../run/folders';
import type { DocumentLenses } from '../sidecar/client';
import { lensesOf, testsOf } from '../sidecar/lenses';
import { idSteps, isWithin } from './ids';
import type { Outcome } from './outcomes';
import { lineRange } from './ranges';
import type { Target } from './types';

export class TestTree {
  private readonly targets = new WeakMap<TestItem, Target>();
  /** Start of the run of a test's result, in milliseconds since 1970. */
  private readonly runStart = new WeakMap<TestItem, number>();

  /** Time of the last change of the code, by project. */
  private readonly codeChanges = new Map<string, number>();
  /** Tests with dimmed results. */
  private readonly dimmed = new WeakSet<TestItem>();

  constructor(private readonly controller: TestController) {}

  /** Items of the projects. */
  get roots(): readonly TestItem[] {
    return [...this.controller.items].map(([, it]) => it);
  }

  target(item: TestItem): Target | undefined {
    return this.targets.get(item);
  }

  /** Returns the item of a project, and creates it if needed. */
  root(root: string): TestItem {
    const known = this.controller.items.get(root);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(root, nameOf(root), Uri.file(root));
    made.canResolveChildren = true;
    this.targets.set(made, { root, id: '' });
    this.controller.items.add(made);
    return made;
  }

  /** Returns the item of a test, if the view has it. */
  find(root: string, id: string): TestItem | undefined {
    let item = this.controller.items.get(root);
    for (const step of idSteps(id)) item = item?.children.get(itemId({ root, id: step.id }));
    return item;
  }

  /** Returns the item of a test, and creates it and its parents if needed. */
  item(root: string, id: string): TestItem {
    let item = this.root(root);
    if (id === '') return item;
    const [file] = idSteps(id);
    const uri = file === undefined ? undefined : Uri.file(join(root, file.id));
    for (const step of idSteps(id)) item = this.child(item, { root, id: step.id }, step.label, uri);
    return item;
  }

  /**
   * Returns the item of an outcome, and sets its location.
   * @param began start of the run, in milliseconds since 1970, if the outcome does not have the time of its texts
   */
  place(outcome: Outcome, began: number): TestItem {
    const item = this.item(outcome.root, outcome.id);
    this.runStart.set(item, outcome.textOf ?? began);
    this.dimmed.delete(item);
    // A file whose tests run has no error any more.
    this.item(outcome.root, idSteps(outcome.id)[0]?.id ?? '').error = undefined;
    // Ranges from an open document are newer than those from the disk.
    if (outcome.line !== undefined && item.range === undefined) item.range = lineRange(outcome.line - 1);
    return item;
  }

  /**
   * Removes the tests that a project does not have any more: those of deleted files, and of files of which `ids` names
   * tests, since it names all of theirs. Other files keep their tests and results.
   */
  retain(root: string, ids: Iterable<string>): void {
    const there = new Set([...ids].flatMap((id) => idSteps(id).map((step) => step.id)));
    const item = this.root(root);
    for (const [key, file] of item.children) {
      const id = this.targets.get(file)?.id ?? '';
      if (there.has(id)) this.prune(file, (it) => there.has(it));
      else if (file.children.size === 0 || !existsSync(join(root, id))) item.children.delete(key);
    }
  }

  /**
   * Shows errors during the collection of a project.
   * @param errors by id
   */
  setErrors(root: string, errors: ReadonlyMap<string, string>): void {
    const item = this.root(root);
    item.error = undefined;
    for (const [, file] of item.children) file.error = undefined;
    for (const [id, why] of errors) this.item(root, id).error = why;
  }

  /** Returns whether a project or a test is not shown, since it lies below `.trellis`. */
  isInternal(root: string, id = ''): boolean {
    return isInternal(openFolders(), join(root, idSteps(id)[0]?.id ?? ''));
  }

  /** Records a change of a project's code. */
  codeChanged(root: string, time: number): void {
    this.codeChanges.set(root, Math.max(this.codeChanges.get(root) ?? 0, time));
  }

  /** Dims results from before the last change. */
  dim(): void {
    const outdated = [...this.codeChanges].flatMap(([root, time]) => this.ranBefore(root, time));
    const newlyOutdated = outdated.filter((it) => !this.dimmed.has(it));
    if (newlyOutdated.length > 0) this.controller.invalidateTestResults(newlyOutdated);
    for (const it of newlyOutdated) this.dimmed.add(it);
  }

  /** Returns whether a project lies in an open folder, or contains one. */
  isOpen(root: string): boolean {
    return isBelow(openFolders(), root) || openFolders().some((it) => isBelow([root], it));
  }

  /** Returns the tests of a project with results of runs that began before a time. */
  ranBefore(root: string, time: number): readonly TestItem[] {
    const below = (item: TestItem): TestItem[] => [
      item,
      ...[...item.children].flatMap(([, it]) => below(it)),
    ];
    return below(this.root(root)).filter((it) => (this.runStart.get(it) ?? time) < time);
  }

  /** Returns the innermost project that contains a path, if any. */
  projectOf(path: string): string | undefined {
    const around = this.roots.map((it) => it.id).filter((it) => isBelow([it], path));
    return around.reduce<string | undefined>((a, b) => (a && a.length > b.length ? a : b), undefined);
  }

  /** Shows the open folders, and removes projects that lie in none of them. */
  showFolders(): void {
    const folders = openFolders();
    for (const folder of folders) this.root(folder);
    for (const it of this.roots) if (!isBelow(folders, it.uri?.fsPath)) this.controller.items.delete(it.id);
  }

  /** Removes the tests below a deleted path; a path that exists again was only replaced. */
  pathDeleted(path: string): void {
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

  /** Sets the ranges of the tests in an open document. */
  updateFromLenses({ document, lenses }: DocumentLenses): void {
    const path = document.uri.fsPath.replaceAll('\\', '/');
    if (isInternal(openFolders(), path)) return;
    const found = testsOf(path, lensesOf(lenses));
    for (const test of found) {
      const item = this.item(test.root, test.id);
      item.range = new Range(test.line, 0, test.endLine, 0);
    }
    const there = new Set(found.flatMap((it) => idSteps(it.id).map((step) => step.id)));
    for (const item of this.roots) {
      const root = item.id;
      const file = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
      const known = file === undefined ? undefined : item.children.get(itemId({ root, id: file }));
      // A document does not contain the parameters of its tests.
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

  /** Removes the items below an item that do not exist any more. */
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

/** Makes the id of an item below a folder. */
export function itemId({ root, id }: Target): string {
  return `${root}\n${id}`;
}

function nameOf(root: string): string {
  const folder = workspace.getWorkspaceFolder(Uri.file(root));
  return folder?.uri.fsPath === root ? folder.name : workspace.asRelativePath(root);
}
