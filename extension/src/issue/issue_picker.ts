// Pickers for the parts of an issue.
import { l10n, type QuickPickItem, RelativePattern, type Uri, window, workspace } from 'vscode';
import { folderFor } from '../generation/run_pickers';

/** Parameters of an issue. */
export interface Issue {
  readonly root: string;
  readonly issue: string;
  /** Path of the spec, absolute, as are those of the context. */
  readonly lld: string;
  readonly context: string[];
}

/** Maximal number of files in a picker. */
const MAX_FILES = 5_000;
const EXCLUDED = '**/{.*,node_modules,venv,site-packages}/**';

type Item = QuickPickItem & { readonly uri: Uri };

/**
 * Asks for issue, spec and context; `undefined` if the person cancelled.
 * @param named spec that was chosen before
 */
export async function pickIssue(named?: Uri): Promise<Issue | undefined> {
  const root = await folderFor(named ?? window.activeTextEditor?.document.uri);
  if (root === undefined) return undefined;
  const lld = named ?? (await pickSpecification(root));
  if (lld === undefined) return undefined;
  const issue = await window.showInputBox({
    title: l10n.t('Implement which issue?'),
    prompt: l10n.t(
      'Issue number or name. The branch gets the same name. Use letters, digits, “-”, “_” and “.”.',
    ),
    validateInput: (it) =>
      /^[A-Za-z0-9][\w.-]*$/.test(it.trim()) ? undefined : l10n.t('Enter an issue number or name.'),
  });
  if (issue === undefined) return undefined;
  const context = await pickContext(root, lld);
  if (context === undefined) return undefined;
  return { root, issue: issue.trim(), lld: lld.fsPath, context };
}

async function pickSpecification(root: string): Promise<Uri | undefined> {
  const items = await fileItems(root, '**/*.md');
  const title = l10n.t('Which file is the spec?');
  return (await window.showQuickPick(items, { title }))?.uri;
}

async function pickContext(root: string, lld: Uri): Promise<string[] | undefined> {
  const items = (await fileItems(root, '**/*.{py,md}')).filter((it) => it.uri.fsPath !== lld.fsPath);
  const title = l10n.t('Which files should every prompt include?');
  const placeHolder = l10n.t('Optional: code to use, standards to follow');
  const chosen = await window.showQuickPick(items, { title, placeHolder, canPickMany: true });
  return chosen?.map((it) => it.uri.fsPath);
}

async function fileItems(root: string, pattern: string): Promise<Item[]> {
  const found = await workspace.findFiles(new RelativePattern(root, pattern), EXCLUDED, MAX_FILES);
  const items = found.map((it) => ({ label: workspace.asRelativePath(it, false), uri: it }));
  return items.sort((a, b) => (a.label < b.label ? -1 : 1));
}
