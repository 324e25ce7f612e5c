// Lenses in the diffs of proposals.
import { CodeLens, type Disposable, l10n, languages, Range, type TextDocument } from 'vscode';
import { editLenses, type Lens, proposalLenses } from './lens_list';
import type { ProposalTexts } from './proposal_documents';
import { EDIT_SCHEME, PROPOSAL_SCHEME, type TextRef, textRefOf } from './proposal_uri';

export function registerDiffLenses(texts: ProposalTexts): Disposable {
  const provideCodeLenses = async (document: TextDocument) => {
    const place = textRefOf(document.uri);
    if (place?.side !== 'proposed') return [];
    const isEdited = document.uri.scheme === EDIT_SCHEME;
    const all = isEdited
      ? editLenses(lensArgumentOf(place), l10n.t)
      : await lensesOfProposal(texts, place, document);
    return all.map(({ line, title, command, argument: given }) => {
      const at = new Range(line, 0, line, 0);
      return new CodeLens(at, { title, command, arguments: [given] });
    });
  };
  return languages.registerCodeLensProvider([{ scheme: PROPOSAL_SCHEME }, { scheme: EDIT_SCHEME }], {
    provideCodeLenses,
  });
}

function lensArgumentOf({ root, fix, revision }: TextRef) {
  return { root, fix, revision };
}

async function lensesOfProposal(
  texts: ProposalTexts,
  ref: TextRef,
  document: TextDocument,
): Promise<readonly Lens[]> {
  const { fix, file } = await texts.find(ref);
  return proposalLenses(ref.root, fix, file, document.lineCount, l10n.t);
}
