// What lies before a person: the difference a proposal makes, its failing test beside it.
import { join } from 'node:path';
import {
  commands,
  type Disposable,
  EventEmitter,
  FileType,
  l10n,
  Position,
  Range,
  type Tab,
  TabInputText,
  TabInputTextDiff,
  Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';
import type { FixResult } from '../protocol';
import { TrellisError } from '../sidecar/api';
import { stepsOf } from '../testing/ids';
import { BESIDE, type Beside } from './beside';
import type { Drafts } from './drafts';
import { EDITED, type Fix, isSame, type Place, placeOf, SHOWN } from './place';
import { type Texts, uriOf } from './texts';
import { titleOf } from './words';
import type { Writing } from './writing';

export class Desk {
  private readonly shows = new EventEmitter<Fix>();
  /** A person looks at a proposal. */
  readonly onShow = this.shows.event;
  private readonly following: Disposable;

  constructor(
    private readonly texts: Texts,
    private readonly drafts: Drafts,
    private readonly writing: Writing,
    private readonly beside: Beside,
  ) {
    this.following = window.tabGroups.onDidChangeTabs(({ closed }) => this.followTests(closed));
  }

  dispose(): void {
    this.following.dispose();
    this.shows.dispose();
  }

  /** The proposal that the tab in front is about. */
  get inFront(): Place | undefined {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    return tab && placesOf(tab)[0];
  }

  /** Whether some tab shows a proposal. */
  get isOccupied(): boolean {
    return tabs().some((it) => placesOf(it).length > 0);
  }

  /** Shows what a person writes about it, else the proposal as it is now, in place of any earlier state of it. */
  async show(of: Fix): Promise<void> {
    const fix = await this.texts.get(of);
    if (await this.resume(of, fix)) this.shows.fire(of);
    else await this.renew(of, fix);
  }

  /** Shows the proposal; what a person wrote is forgotten if they say so. */
  async back(of: Fix): Promise<void> {
    if (await this.writing.mayGo(of)) await this.renew(of, await this.texts.get(of));
  }

  /** Shows the proposal; what a person wrote is forgotten. */
  async renew(of: Fix, fix: FixResult): Promise<void> {
    await this.clear(of);
    await this.open(of, fix, SHOWN);
    await this.showTest(of, fix, false);
    this.shows.fire(of);
  }

  /** The same with the proposed side for the person to write. */
  async edit(of: Fix): Promise<void> {
    const fix = await this.texts.get(of);
    if (await this.resume(of, fix)) return;
    await this.clear(of);
    await this.open(of, fix, EDITED);
  }

  /** Closes all that is shown of a proposal; what was written in it is forgotten. */
  async clear(of: Fix): Promise<void> {
    // The editor would ask whether to save what is going to be forgotten.
    for (const { document } of this.writing.open(of)) await document.save();
    const own = tabs().filter((it) => isAbout(it, of) || this.isTest(it, of));
    if (own.length > 0) await window.tabGroups.close(own);
    await this.drafts.forget(of);
    this.beside.forget(of);
  }

  /** Closes what is shown of a proposal that somebody else has decided, unless a person is writing in it. */
  async leave(of: Fix): Promise<void> {
    if (!this.writing.open(of).some((it) => it.document.isDirty)) await this.clear(of);
  }

  /** Closes what an earlier window showed and cannot be shown any more, and the tests that it opened beside; forgets drafts that are of no use. */
  async tidy(): Promise<void> {
    const tests = tabs().filter((it) => {
      const uri = uriIn(it);
      return uri !== undefined && this.beside.isLeftOver(it, uri);
    });
    if (tests.length > 0) await window.tabGroups.close(tests);
    for (const { place } of await this.drafts.all()) {
      const fix = await this.texts.get(place).catch(() => undefined);
      if (fix?.state === 'accepted' || fix?.state === 'rejected') await this.drafts.forget(place);
    }
    for (const tab of tabs()) {
      const shown = await Promise.allSettled(placesOf(tab).map((it) => this.texts.find(it)));
      if (shown.some((it) => it.status === 'rejected')) await window.tabGroups.close(tab);
    }
  }

  /** The failing test, at its line where that is known. */
  async openTest(of: Fix): Promise<void> {
    await this.showTest(of, await this.texts.get(of), true);
  }

  /** Brings what a person writes to the front; whether there is something. What is of another revision may have to go. */
  private async resume(of: Fix, fix: FixResult): Promise<boolean> {
    const changed = await this.writing.changed(of);
    const all = [...this.writing.open(of).map((it) => it.place), ...changed];
    const isNow = all.every((it) => it.revision === fix.revision);
    if (all.length === 0 || (!isNow && (await this.writing.mayGo(of)))) return false;
    if (isNow) await this.open(of, fix, EDITED);
    else for (const it of changed) await window.showTextDocument(uriOf(EDITED, it), { preview: false });
    return true;
  }

  private async open(of: Fix, fix: FixResult, scheme: typeof SHOWN | typeof EDITED): Promise<void> {
    const [first, ...more] = fix.files;
    // The first last, so that it is in front.
    for (const { path } of first === undefined ? [] : [...more.reverse(), first]) {
      const place = { ...of, revision: fix.revision, path };
      const base = uriOf(SHOWN, { ...place, side: 'base' });
      const other = uriOf(scheme, { ...place, side: 'proposed' });
      if (scheme === EDITED) await this.writing.verify({ ...place, side: 'proposed' });
      const options = { preview: false, viewColumn: ViewColumn.One };
      await commands.executeCommand('vscode.diff', base, other, titleOf(fix, path, l10n.t), options);
    }
  }

  private async showTest(of: Fix, { test, node }: FixResult, isAsked: boolean): Promise<void> {
    const file = stepsOf(test.id)[0]?.id;
    const uri = file === undefined ? undefined : Uri.file(join(of.root, file));
    if (uri === undefined || !(await exists(uri))) {
      if (!isAsked) return;
      const hint = node ? l10n.t('a run writes the tests of a node once the node has passed') : undefined;
      throw new TrellisError(l10n.t('{0} does not exist on disk', test.id), 65, hint, 'badInput');
    }
    const isNew = besideOf(uri) === undefined;
    const at = test.line && test.path === file ? new Position(test.line - 1, 0) : undefined;
    const selection = at === undefined ? {} : { selection: new Range(at, at) };
    const options = { viewColumn: BESIDE, preserveFocus: !isAsked, preview: true };
    const { document } = await window.showTextDocument(uri, { ...options, ...selection });
    if (isAsked) this.beside.own(uri);
    else if (isNew) this.beside.opens(of, document, besideOf(uri)?.isPreview ?? false);
  }

  /** A difference that a person closes takes its test along, as one that is decided does. */
  private followTests(closed: readonly Tab[]): void {
    const gone = closed.flatMap((it) => placesOf(it).slice(0, 1));
    const left = gone.filter((of) => !tabs().some((it) => isAbout(it, of)));
    const tests = tabs().filter((it) => left.some((of) => this.isTest(it, of)));
    if (tests.length > 0) void window.tabGroups.close(tests);
  }

  /** What a person has made their own is left alone. */
  private isTest(tab: Tab, of: Fix): boolean {
    const uri = uriIn(tab);
    return uri !== undefined && this.beside.isUntouched(tab, uri, of);
  }
}

function tabs(): Tab[] {
  return window.tabGroups.all.flatMap((it) => it.tabs);
}

function uriIn(tab: Tab): Uri | undefined {
  return tab.input instanceof TabInputText ? tab.input.uri : undefined;
}

/** The tab of a file beside the difference; the same file may be open elsewhere. */
function besideOf(uri: Uri): Tab | undefined {
  return tabs().find((it) => it.group.viewColumn === BESIDE && uriIn(it)?.toString() === uri.toString());
}

function isAbout(tab: Tab, of: Fix): boolean {
  return placesOf(tab).some((it) => isSame(it, of));
}

/** Of proposals that a tab shows. */
function placesOf({ input }: Tab): Place[] {
  if (input instanceof TabInputTextDiff)
    return [input.modified, input.original].flatMap((it) => placeOf(it) ?? []);
  return input instanceof TabInputText ? [placeOf(input.uri)].flatMap((it) => it ?? []) : [];
}

async function exists(uri: Uri): Promise<boolean> {
  try {
    return (await workspace.fs.stat(uri)).type === FileType.File;
  } catch {
    return false;
  }
}
