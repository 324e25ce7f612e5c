// The tree of the Testing view, with an item for each folder, file, class, test and part of a test.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type TestController, type TestItem, Uri, workspace } from 'vscode';
import { isBelow, isInternal } from '../run/folders';
import { fileOf, idSteps } from './ids';
import { listedFolders } from './listed_folders';
import { noteOf, type Outcome } from './outcomes';
import { lineRange } from './ranges';
import type { Target } from './types';

export class TestTree {
  private readonly targets = new WeakMap<TestItem, Target>();
  private readonly files = new WeakSet<TestItem>();
  /** Tests of which a decorator makes several cases. */
  private readonly withCases = new WeakSet<TestItem>();
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

  /** Returns whether a test runs as cases that are not known yet. */
  awaitsCases(item: TestItem): boolean {
    return this.withCases.has(item) && item.children.size === 0;
  }

  setHasCases(item: TestItem, hasCases: boolean): void {
    if (hasCases) this.withCases.add(item);
    else this.withCases.delete(item);
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

  /**
   * Returns the item of a test, and creates it and its parents if needed.
   * @param path of the file that defines it, relative to the root, if it is not the file in the id
   */
  item(root: string, id: string, path = fileOf(id)): TestItem {
    let item = this.root(root);
    if (id === '') return item;
    for (const step of idSteps(id)) {
      const place = step.kind === 'folder' ? step.id : step.id === id ? path : fileOf(id);
      const sortText = `${step.kind === 'folder' ? 0 : 1}${step.label}`;
      const shown = { label: step.label, sortText, uri: Uri.file(join(root, place)) };
      item = this.child(item, itemId({ root, id: step.id }), { root, id: step.id }, shown);
      if (step.kind === 'file') this.files.add(item);
    }
    return item;
  }

  /** Returns the item of a test, or of a project for an empty id, if there is one. */
  find(root: string, id: string): TestItem | undefined {
    const steps = id === '' ? [] : idSteps(id);
    return steps.reduce<TestItem | undefined>(
      (item, step) => item?.children.get(itemId({ root, id: step.id })),
      this.controller.items.get(root),
    );
  }

  /** Removes a test, and classes and folders that become empty. */
  remove(root: string, id: string): void {
    const steps = idSteps(id).map((step) => step.id);
    for (let id = steps.pop(); id !== undefined; id = steps.pop()) {
      const parent = steps.length === 0 ? this.root(root) : this.find(root, steps.at(-1) ?? '');
      parent?.children.delete(itemId({ root, id }));
      if (parent === undefined || parent.children.size > 0) return;
    }
  }

  /**
   * Returns the item of an outcome, and sets its location and its note.
   * @param began start of the run, in milliseconds since 1970, if the outcome does not have the time of its texts
   */
  place(outcome: Outcome, began: number): TestItem {
    const { root, id, line, path } = outcome;
    const item = this.item(root, id);
    this.runStart.set(item, outcome.textOf ?? began);
    this.dimmed.delete(item);
    // Each change of a property is a message to the editor.
    const [note, file] = [noteOf(outcome), this.item(root, fileOf(id))];
    if (note !== (item.description ?? '')) item.description = note;
    // A file whose tests run has no error any more.
    if (file.error !== undefined) file.error = undefined;
    // A range from the sources is newer than one from a run, whose line may be in another file.
    const isHere = path === undefined || path === fileOf(id);
    if (line !== undefined && isHere && item.range === undefined) item.range = lineRange(line - 1);
    return item;
  }

  /** Returns items for the parts of a test, and removes those of earlier runs. */
  parts(item: TestItem, names: readonly string[]): readonly TestItem[] {
    const target = this.targets.get(item);
    if (target === undefined) return [];
    const keys = names.map((name, at) => `${item.id}\n${at} ${name}`);
    for (const [key] of item.children)
      if (key.startsWith(`${item.id}\n`) && !keys.includes(key)) item.children.delete(key);
    return names.map((name, at) => {
      const shown = { label: name, sortText: String(at).padStart(6, '0'), uri: item.uri };
      const part = this.child(item, keys[at] ?? '', target, shown);
      part.range ??= item.range;
      return part;
    });
  }

  /**
   * Removes the tests that a run of a whole project shows to be gone: those of deleted files; of files of which `ids`
   * names tests, since it names all of theirs; and those without a result in other files.
   * @param broken files that could not be collected, which keep their tests
   */
  retain(root: string, ids: Iterable<string>, broken: ReadonlySet<string>): void {
    const there = new Set([...ids].flatMap((id) => idSteps(id).map((step) => step.id)));
    for (const file of this.filesBelow(this.root(root))) {
      const id = this.targets.get(file)?.id ?? '';
      if (!existsSync(join(root, id))) this.remove(root, id);
      else if (there.has(id)) this.prune(file, (it) => there.has(it.id));
      else if (!broken.has(id)) {
        this.prune(file, (_, item) => this.hasResult(item));
        if (file.children.size === 0) this.remove(root, id);
      }
    }
  }

  /**
   * Shows errors during the collection of a project.
   * @param errors by id
   */
  setErrors(root: string, errors: ReadonlyMap<string, string>): void {
    const item = this.root(root);
    item.error = undefined;
    for (const file of this.filesBelow(item)) file.error = undefined;
    for (const [id, why] of errors) this.item(root, id).error = why;
  }

  /** Returns whether a project or a test is not shown, since it lies below `.trellis`. */
  isInternal(root: string, id = ''): boolean {
    return isInternal(openFolders(), join(root, fileOf(id)));
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

  /** Returns whether a project lies in a folder whose tests are listed, or contains one. */
  isListed(root: string): boolean {
    const folders = listedFolders();
    return isBelow(folders, root) || folders.some((it) => isBelow([root], it));
  }

  /** Returns the tests of a project with results of runs that began before a time. */
  ranBefore(root: string, time: number): readonly TestItem[] {
    return withAllBelow(this.root(root)).filter((it) => (this.runStart.get(it) ?? time) < time);
  }

  /** Returns the innermost project that contains a path, if any. */
  projectOf(path: string): string | undefined {
    const around = this.roots.map((it) => it.id).filter((it) => isBelow([it], path));
    return around.reduce<string | undefined>((a, b) => (a && a.length > b.length ? a : b), undefined);
  }

  /** Shows the listed folders, and removes projects that lie in none of them. */
  showFolders(): void {
    const folders = listedFolders();
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
        if (this.find(root, gone) !== undefined) this.remove(root, gone);
      }
    }
  }

  private child(parent: TestItem, key: string, target: Target, shown: ShownItem): TestItem {
    const known = parent.children.get(key);
    if (known !== undefined) return known;
    const made = this.controller.createTestItem(key, shown.label, shown.uri);
    made.sortText = shown.sortText;
    this.targets.set(made, target);
    parent.children.add(made);
    return made;
  }

  private filesBelow(item: TestItem): readonly TestItem[] {
    return withAllBelow(item).filter((it) => this.files.has(it));
  }

  private hasResult(item: TestItem): boolean {
    return withAllBelow(item).some((it) => this.runStart.has(it));
  }

  /** Removes the items below an item that do not exist any more. */
  private prune(item: TestItem, isThere: (target: Target, item: TestItem) => boolean): void {
    for (const [key, child] of item.children) {
      const target = this.targets.get(child);
      if (target === undefined) continue;
      if (isThere(target, child)) this.prune(child, isThere);
      else item.children.delete(key);
    }
  }
}

/** What a new item shows. */
interface ShownItem {
  readonly label: string;
  readonly sortText: string;
  readonly uri: Uri | undefined;
}

function withAllBelow(item: TestItem): readonly TestItem[] {
  return [item, ...[...item.children].flatMap(([, it]) => withAllBelow(it))];
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
