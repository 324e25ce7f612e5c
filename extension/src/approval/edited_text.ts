// Edits of proposed texts: in open documents, and in saved drafts.
import { l10n, type TextDocument, workspace } from 'vscode';
import { TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import type { Drafts } from './drafts';
import { type EditFileSystem, textUri } from './proposal_documents';
import { EDIT_SCHEME, isSameProposal, type ProposalRef, type TextRef, textRefOf } from './proposal_uri';
import { isSameInEditor } from './text_encoding';

/** Edited text of a file. */
export interface EditedText {
  readonly path: string;
  readonly text: string;
}

interface OpenDocument {
  readonly place: TextRef;
  readonly document: TextDocument;
}

export class EditedTexts {
  constructor(
    private readonly edits: EditFileSystem,
    private readonly drafts: Drafts,
  ) {}

  /** Returns the open documents of a proposal, edited or not. */
  openDocuments(ref: ProposalRef): readonly OpenDocument[] {
    return workspace.textDocuments.flatMap((document) => {
      const place = document.uri.scheme === EDIT_SCHEME ? textRefOf(document.uri) : undefined;
      return place === undefined || !isSameProposal(place, ref) || document.isClosed
        ? []
        : [{ place, document }];
    });
  }

  /** Returns the texts with edits that could be lost. */
  async edited(ref: ProposalRef): Promise<readonly TextRef[]> {
    const dirty = this.openDocuments(ref).filter((it) => it.document.isDirty);
    const kept = await this.drafts.of(ref);
    return [...dirty, ...kept].map((it) => it.place);
  }

  /**
   * Returns the edited texts of one revision, else of all.
   * @throws a {@link TrellisError} if the editor reads one in another encoding
   */
  async texts(ref: ProposalRef, revision?: number | null): Promise<readonly EditedText[]> {
    const isWanted = ({ place }: { place: TextRef }) => (revision ?? place.revision) === place.revision;
    const texts = new Map((await this.drafts.of(ref)).filter(isWanted).map((it) => [it.place.path, it.text]));
    for (const { place, document } of this.openDocuments(ref).filter(isWanted)) {
      if (!document.encoding.startsWith('utf8')) throw encodingError(place, document);
      texts.set(place.path, document.getText());
    }
    return [...texts].map(([path, text]) => ({ path, text }));
  }

  /**
   * Checks that the editor shows the proposed text.
   * @throws a {@link TrellisError} if the editor reads it in another encoding
   */
  async verifyEncoding(ref: TextRef): Promise<void> {
    const uri = textUri(EDIT_SCHEME, ref);
    const document = await workspace.openTextDocument(uri);
    if (document.isDirty || isSameInEditor(await this.edits.text(uri), document.getText())) return;
    throw encodingError(ref, document);
  }

  /** Asks whether edits may be discarded; true if there are none. */
  async confirmDiscard(ref: ProposalRef): Promise<boolean> {
    if ((await this.edited(ref)).length === 0) return true;
    const discard = l10n.t('Discard My Edits');
    const detail = l10n.t('Your edits to the proposal will be lost.');
    const title = l10n.t('Discard your edits to {0}?', ref.fix);
    return (await notify.dialog(title, detail, discard)) === discard;
  }
}

function encodingError({ path }: TextRef, { encoding }: TextDocument): TrellisError {
  const text = l10n.t(
    'the editor reads {0} as {1}, so the text is not the one that was proposed',
    path,
    encoding,
  );
  const hint = l10n.t(
    'choose "Reopen with Encoding", then UTF-8, or accept the fix and edit the file itself',
  );
  return new TrellisError(text, 65, hint, 'badInput');
}
