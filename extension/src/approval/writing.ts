// What persons write in place of what is proposed: in documents that are open, and in drafts that were saved.
import { l10n, type TextDocument, workspace } from 'vscode';
import { TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import type { Drafts } from './drafts';
import { EDITED, type Fix, isSame, type Place, placeOf } from './place';
import { isShownAs } from './plain';
import { type Edits, uriOf } from './texts';

/** A text of a person's. */
export interface Written {
  readonly path: string;
  readonly text: string;
}

interface Opened {
  readonly place: Place;
  readonly document: TextDocument;
}

export class Writing {
  constructor(
    private readonly edits: Edits,
    private readonly drafts: Drafts,
  ) {}

  /** Documents that are open, whether something was written or not. */
  open(of: Fix): readonly Opened[] {
    return workspace.textDocuments.flatMap((document) => {
      const place = document.uri.scheme === EDITED ? placeOf(document.uri) : undefined;
      return place === undefined || !isSame(place, of) || document.isClosed ? [] : [{ place, document }];
    });
  }

  /** Where something was written that would be lost. */
  async changed(of: Fix): Promise<readonly Place[]> {
    const dirty = this.open(of).filter((it) => it.document.isDirty);
    const kept = await this.drafts.of(of);
    return [...dirty, ...kept].map((it) => it.place);
  }

  /**
   * The texts of one revision, else of all, of those that are open and of those that were saved.
   * @throws a {@link TrellisError} where one was read in another encoding
   */
  async texts(of: Fix, revision?: number | null): Promise<readonly Written[]> {
    const isWanted = ({ place }: { place: Place }) => (revision ?? place.revision) === place.revision;
    const texts = new Map((await this.drafts.of(of)).filter(isWanted).map((it) => [it.place.path, it.text]));
    for (const { place, document } of this.open(of).filter(isWanted)) {
      if (!document.encoding.startsWith('utf8')) throw misread(place, document);
      texts.set(place.path, document.getText());
    }
    return [...texts].map(([path, text]) => ({ path, text }));
  }

  /**
   * Makes sure that the editor has the very text that it was given.
   * @throws a {@link TrellisError} where it has another
   */
  async verify(place: Place): Promise<void> {
    const uri = uriOf(EDITED, place);
    const document = await workspace.openTextDocument(uri);
    if (document.isDirty || isShownAs(await this.edits.text(uri), document.getText())) return;
    throw misread(place, document);
  }

  /** Whether nothing would be lost, or may be: that is asked. */
  async mayGo(of: Fix): Promise<boolean> {
    if ((await this.changed(of)).length === 0) return true;
    const discard = l10n.t('Discard My Edits');
    const detail = l10n.t('Your edits to the proposal will be lost.');
    const title = l10n.t('Discard your edits to {0}?', of.fix);
    return (await notify.dialog(title, detail, discard)) === discard;
  }
}

function misread({ path }: Place, { encoding }: TextDocument): TrellisError {
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
