// The plan of code that exists.
import { basename } from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import { folderFor } from '../generation/run_pickers';
import type { Sidecar } from '../sidecar/api';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { sizeText } from './counts';
import { pickPlanFile } from './draft_pickers';

const t = l10n.t;

/** Writes the plan of a folder into a new file, and shows its picture. */
export async function planFromCode(sidecar: Sidecar, folder: Uri | undefined): Promise<void> {
  const root = folder?.fsPath ?? (await folderFor());
  if (root === undefined) return;
  const out = await pickPlanFile(Uri.file(root), root, t('Write the plan to which file?'));
  if (out === undefined) return;
  const title = t('Reading the code of {0}', basename(root));
  const made = await requestWithProgress(sidecar, 'trellis/planFromCode', { root, out }, title);
  if (made === undefined) return;
  await commands.executeCommand('trellis.showGraph', Uri.file(out));
  const { files, definitions, certain, possible, notes } = made;
  const uses = certain + possible;
  const dependencies = uses === 1 ? t('1 dependency') : t('{0} dependencies', uses);
  const text = `${basename(out)}: ${sizeText(files, definitions, t)}, ${dependencies}`;
  const show = t('Show Notes');
  const chosen = await notify.info(text, ...(notes.length > 0 ? [show] : []));
  if (chosen === show) await notify.details(text, notes.join('\n'));
}
