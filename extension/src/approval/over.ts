// Lenses over documents of ours.
import { CodeLens, type Disposable, l10n, languages, Range, type TextDocument } from 'vscode';
import { editLenses, type Lens, lensesOf } from './lenses';
import { EDITED, type Place, placeOf, SHOWN } from './place';
import type { Texts } from './texts';

export function lenses(texts: Texts): Disposable {
  const provideCodeLenses = async (document: TextDocument) => {
    const place = placeOf(document.uri);
    if (place?.side !== 'proposed') return [];
    const isEdited = document.uri.scheme === EDITED;
    const all = isEdited ? editLenses(of(place), l10n.t) : await shown(texts, place, document);
    return all.map(({ line, title, command, given }) => {
      const at = new Range(line, 0, line, 0);
      return new CodeLens(at, { title, command, arguments: [given] });
    });
  };
  return languages.registerCodeLensProvider([{ scheme: SHOWN }, { scheme: EDITED }], { provideCodeLenses });
}

function of({ root, fix, revision }: Place) {
  return { root, fix, revision };
}

async function shown(texts: Texts, place: Place, document: TextDocument): Promise<readonly Lens[]> {
  const { fix, file } = await texts.find(place);
  return lensesOf(place.root, fix, file, document.lineCount, l10n.t);
}
