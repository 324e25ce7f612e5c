// Pickers for a draft; `undefined` if the person cancelled.
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { l10n, type QuickPickItem, RelativePattern, Uri, window, workspace } from 'vscode';
import { fileExists } from '../files/exists';
import { modelFor } from '../generation/generate';
import { EXCLUDED } from '../generation/plan_files';
import { folderFor } from '../generation/run_pickers';
import type { PlanSize } from '../protocol';
import type { Sidecar } from '../sidecar/api';
import { withoutLinks } from '../sidecar/link_free_text';
import type { DraftChoice, OpenDraft } from './draft_store';

const t = l10n.t;
/** Maximal number of files in the picker. */
const MAX_FILES = 1_000;

/** A description to draft from, one to write first, or the draft of before. */
export type Beginning = Uri | 'write' | 'continue';

type Item = QuickPickItem & { readonly beginning?: Beginning };

/** Asks for the file that describes the project. */
export async function pickDescription(open: OpenDraft | undefined): Promise<Beginning | undefined> {
  const root = await folderFor(window.activeTextEditor?.document.uri);
  if (root === undefined) return undefined;
  const browse: Item = { label: `$(folder-opened) ${t('Browse…')}` };
  const items: Item[] = [
    ...(open === undefined ? [] : [continueItem(open)]),
    { label: `$(new-file) ${t('Write a New Description')}`, beginning: 'write' },
    ...(await descriptions(root)),
    browse,
  ];
  const chosen = await window.showQuickPick(items, { title: t('Which file describes the project?') });
  if (chosen !== browse) return chosen?.beginning;
  const filters = { [t('Descriptions')]: ['md', 'txt'] };
  return (await window.showOpenDialog({ filters, openLabel: t('Draft Plan') }))?.[0];
}

function continueItem({ choice, part }: OpenDraft): Item {
  const name = basename(choice.spec);
  const description = part === undefined ? basename(choice.out) : t('{0} waits for you', part.part);
  return {
    label: `$(debug-continue) ${t('Continue the Draft of {0}', name)}`,
    description,
    beginning: 'continue',
  };
}

/** Lists the texts of a folder; the one in the active editor comes first. */
async function descriptions(root: string): Promise<Item[]> {
  const active = window.activeTextEditor?.document.uri.fsPath;
  const found = await workspace.findFiles(new RelativePattern(root, '**/*.{md,txt}'), EXCLUDED, MAX_FILES);
  const items = found.map((uri) => ({ label: workspace.asRelativePath(uri, false), beginning: uri }));
  const rank = (it: { readonly beginning: Uri }) => Number(it.beginning.fsPath !== active);
  return items.sort((a, b) => rank(a) - rank(b) || (a.label < b.label ? -1 : 1));
}

/** Opens a new text for a description. */
export async function writeDescription(): Promise<Uri | undefined> {
  const root = await folderFor();
  if (root === undefined) return undefined;
  const path = await freeName(join(root, 'SPEC.md'));
  const uri = Uri.file(path).with({ scheme: 'untitled' });
  const document = await workspace.openTextDocument(uri);
  const editor = await window.showTextDocument(document);
  if (document.getText() === '') {
    const text = t(
      '# Name\n\nWhat it does, in a sentence.\n\n## Use\n\n- One sentence for each thing that it has to do.\n',
    );
    await editor.edit((it) => it.insert(editor.selection.start, text));
  }
  return Uri.file(path);
}

/** Asks for everything but the description. */
export async function pickDraft(sidecar: Sidecar, spec: Uri): Promise<DraftChoice | undefined> {
  const out = await pickPlanFile(spec, dirname(spec.fsPath), t('Write the plan to which file?'));
  if (out === undefined) return undefined;
  const size = await pickSize();
  if (size === undefined) return undefined;
  const options = await pickOptions();
  if (options === undefined) return undefined;
  const model = await modelFor(sidecar, spec);
  if (model === undefined) return undefined;
  const choice = { spec: spec.fsPath, out, size, ...options };
  return model === '' ? choice : { ...choice, model };
}

/** Asks for a new file in a folder; returns an absolute path. */
export async function pickPlanFile(near: Uri, folder: string, title: string): Promise<string | undefined> {
  const base = await folderFor(near);
  if (base === undefined) return undefined;
  const value = relative(base, await freeName(join(folder, 'plan.json')));
  const chosen = await window.showInputBox({
    title,
    // The editor makes links in prompts as well, and folders may have any name.
    prompt: withoutLinks(t('Relative to {0}.', base)),
    value,
    valueSelection: [0, value.length],
    validateInput: (it) => (it.trim().endsWith('.json') ? undefined : t('Enter the name of a JSON file.')),
  });
  if (chosen === undefined) return undefined;
  return isAbsolute(chosen.trim()) ? chosen.trim() : join(base, chosen.trim());
}

async function pickSize(): Promise<PlanSize | undefined> {
  const items: (QuickPickItem & { size: PlanSize })[] = [
    { label: t('Small'), description: t('3 to 8 features'), size: 'small' },
    { label: t('Medium'), description: t('8 to 25 features'), size: 'medium' },
    { label: t('Large'), description: t('25 to 80 features'), size: 'large' },
  ];
  return (await window.showQuickPick(items, { title: t('How large is the project?') }))?.size;
}

async function pickOptions(): Promise<Pick<DraftChoice, 'interview' | 'stepwise'> | undefined> {
  const interview = { label: t('Ask me questions first'), description: t('up to five'), picked: true };
  const stepwise = {
    label: t('Let me decide on every part'),
    description: t('features, layout, the interface of each file'),
    picked: true,
  };
  const title = t('How do you take part?');
  const chosen = await window.showQuickPick([interview, stepwise], { title, canPickMany: true });
  return chosen && { interview: chosen.includes(interview), stepwise: chosen.includes(stepwise) };
}

/** Asks the questions of the model; an empty answer leaves the matter to it. */
export async function askQuestions(questions: readonly string[]): Promise<string[] | undefined> {
  const answers: string[] = [];
  for (const [at, question] of questions.entries()) {
    const answer = await window.showInputBox({
      title: t('Question {0} of {1}', at + 1, questions.length),
      prompt: withoutLinks(question),
      placeHolder: t('Empty: the model decides'),
      ignoreFocusOut: true,
    });
    if (answer === undefined) return undefined;
    answers.push(answer);
  }
  return answers;
}

/** Returns a path, with a number if a file has it. */
async function freeName(path: string): Promise<string> {
  const [, stem, end] = /^(.*)(\.[^.]+)$/.exec(path) ?? [path, path, ''];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? path : `${stem}-${number}${end}`;
    if (!(await fileExists(Uri.file(name)))) return name;
  }
}
