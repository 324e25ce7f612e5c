// Tabs of proposals.
import { join } from 'node:path';
import {
  commands,
  EventEmitter,
  l10n,
  Position,
  Range,
  type Tab,
  TabInputText,
  TabInputTextDiff,
  Uri,
  ViewColumn,
  window,
} from 'vscode';
import { fileExists } from '../files/exists';
import type { FixResult } from '../protocol';
import { TrellisError } from '../sidecar/api';
import { fileOf } from '../testing/ids';
import type { Drafts } from './drafts';
import type { EditedTexts } from './edited_text';
import { tabTitle } from './messages';
import { type ProposalTexts, textUri } from './proposal_documents';
import {
  EDIT_SCHEME,
  isSameProposal,
  PROPOSAL_SCHEME,
  type ProposalRef,
  type TextRef,
  textRefOf,
} from './proposal_uri';

export class DiffTabs {
  private readonly showEmitter = new EventEmitter<ProposalRef>();
  /** Fires when a person opens a proposal. */
  readonly onShow = this.showEmitter.event;

  constructor(
    private readonly texts: ProposalTexts,
    private readonly drafts: Drafts,
    private readonly editedTexts: EditedTexts,
  ) {}

  dispose(): void {
    this.showEmitter.dispose();
  }

  /** Text of a proposal in the active tab. */
  get active(): TextRef | undefined {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    return tab && textsOf(tab)[0];
  }

  /** Whether any tab shows a proposal. */
  get isAnyOpen(): boolean {
    return allTabs().some((it) => textsOf(it).length > 0);
  }

  /** Shows the person's edits of a proposal, else its newest revision. Tabs with earlier revisions are closed. */
  async show(ref: ProposalRef): Promise<void> {
    const fix = await this.texts.get(ref);
    if (await this.showEdits(ref, fix)) this.showEmitter.fire(ref);
    else await this.showProposal(ref, fix);
  }

  /** Shows the proposal, and discards edits if the person agrees. */
  async discardEdits(ref: ProposalRef): Promise<void> {
    if (await this.editedTexts.confirmDiscard(ref)) await this.showProposal(ref, await this.texts.get(ref));
  }

  /** Shows the proposal, and discards edits. */
  async showProposal(ref: ProposalRef, fix: FixResult): Promise<void> {
    await this.close(ref);
    await this.open(ref, fix, PROPOSAL_SCHEME);
    this.showEmitter.fire(ref);
  }

  /** Shows the diff with an editable proposed side. */
  async edit(ref: ProposalRef): Promise<void> {
    const fix = await this.texts.get(ref);
    if (await this.showEdits(ref, fix)) return;
    await this.close(ref);
    await this.open(ref, fix, EDIT_SCHEME);
  }

  /** Closes all tabs of a proposal, and discards edits. */
  async close(ref: ProposalRef): Promise<void> {
    // Saved first, since the editor would ask about unsaved text.
    for (const { document } of this.editedTexts.openDocuments(ref)) await document.save();
    const own = allTabs().filter((it) => isAbout(it, ref));
    if (own.length > 0) await window.tabGroups.close(own);
    await this.drafts.forget(ref);
  }

  /** Closes the tabs of a proposal that was decided elsewhere, unless it has unsaved edits. */
  async closeUnlessEdited(ref: ProposalRef): Promise<void> {
    if (!this.editedTexts.openDocuments(ref).some((it) => it.document.isDirty)) await this.close(ref);
  }

  /** Closes tabs of an earlier window that cannot be shown any more, and deletes drafts of decided proposals. */
  async closeLeftovers(): Promise<void> {
    for (const { place } of await this.drafts.all()) {
      const fix = await this.texts.get(place).catch(() => undefined);
      if (fix?.state === 'accepted' || fix?.state === 'rejected') await this.drafts.forget(place);
    }
    for (const tab of allTabs()) {
      const shown = await Promise.allSettled(textsOf(tab).map((it) => this.texts.find(it)));
      if (shown.some((it) => it.status === 'rejected')) await window.tabGroups.close(tab);
    }
  }

  /** Opens the failing test beside the diff, at its line if that is known. */
  async openTest(ref: ProposalRef): Promise<void> {
    const { test, node } = await this.texts.get(ref);
    const file = fileOf(test.id);
    const uri = Uri.file(join(ref.root, file));
    if (!(await fileExists(uri))) {
      const hint = node ? l10n.t('a run writes the tests of a node once the node has passed') : undefined;
      throw new TrellisError(l10n.t('{0} does not exist on disk', test.id), 65, hint, 'badInput');
    }
    const at = test.line && test.path === file ? new Position(test.line - 1, 0) : undefined;
    const selection = at === undefined ? {} : { selection: new Range(at, at) };
    await window.showTextDocument(uri, { viewColumn: ViewColumn.Beside, preview: true, ...selection });
  }

  /**
   * Shows edits of a proposal; returns whether there are any. Edits of another revision are discarded if the person
   * agrees.
   */
  private async showEdits(ref: ProposalRef, fix: FixResult): Promise<boolean> {
    const changed = await this.editedTexts.edited(ref);
    const all = [...this.editedTexts.openDocuments(ref).map((it) => it.place), ...changed];
    const isNow = all.every((it) => it.revision === fix.revision);
    if (all.length === 0 || (!isNow && (await this.editedTexts.confirmDiscard(ref)))) return false;
    if (isNow) await this.open(ref, fix, EDIT_SCHEME);
    else
      for (const it of changed) await window.showTextDocument(textUri(EDIT_SCHEME, it), { preview: false });
    return true;
  }

  private async open(
    ref: ProposalRef,
    fix: FixResult,
    scheme: typeof PROPOSAL_SCHEME | typeof EDIT_SCHEME,
  ): Promise<void> {
    const [first, ...more] = fix.files;
    // The first file last, so that its tab is active.
    for (const { path } of first === undefined ? [] : [...more.reverse(), first]) {
      const place = { ...ref, revision: fix.revision, path };
      const base = textUri(PROPOSAL_SCHEME, { ...place, side: 'base' });
      const other = textUri(scheme, { ...place, side: 'proposed' });
      if (scheme === EDIT_SCHEME) await this.editedTexts.verifyEncoding({ ...place, side: 'proposed' });
      const options = { preview: false, viewColumn: ViewColumn.One };
      await commands.executeCommand('vscode.diff', base, other, tabTitle(fix, path, l10n.t), options);
    }
  }
}

function allTabs(): Tab[] {
  return window.tabGroups.all.flatMap((it) => it.tabs);
}

function isAbout(tab: Tab, ref: ProposalRef): boolean {
  return textsOf(tab).some((it) => isSameProposal(it, ref));
}

/** Returns the texts of proposals that a tab shows. */
function textsOf({ input }: Tab): TextRef[] {
  if (input instanceof TabInputTextDiff)
    return [input.modified, input.original].flatMap((it) => textRefOf(it) ?? []);
  return input instanceof TabInputText ? [textRefOf(input.uri)].flatMap((it) => it ?? []) : [];
}
