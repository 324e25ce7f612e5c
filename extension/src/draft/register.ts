// Registers the commands that make plans: from a description, and from code.
import { commands, type Disposable, type ExtensionContext, l10n, Uri, window, workspace } from 'vscode';
import type { Sidecar } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { PlanDraft } from './draft';
import { pickDescription, pickDraft, writeDescription } from './draft_pickers';
import { DraftStore } from './draft_store';
import { planFromCode } from './from_code';
import { PART_SCHEME, PartFiles } from './part_files';
import { PartTabs } from './part_tabs';

const t = l10n.t;

export function registerDrafts(context: ExtensionContext, sidecar: Sidecar): void {
  const store = new DraftStore(context.workspaceState);
  const tabs = new PartTabs(store);
  const draft = new PlanDraft(sidecar, store, tabs);
  const failure = t('Could not draft the plan');
  const command = (
    name: string,
    work: (argument: unknown) => Promise<unknown>,
    failed = failure,
  ): Disposable => commands.registerCommand(name, guarded(failed, work));
  context.subscriptions.push(
    store,
    tabs,
    workspace.registerFileSystemProvider(PART_SCHEME, new PartFiles(store), { isCaseSensitive: true }),
    command('trellis.newProject', (it) => newProject(sidecar, store, draft, it)),
    command('trellis.acceptPart', () => draft.accept()),
    command('trellis.sendPartBack', () => sendBack(draft)),
    command(
      'trellis.planFromCode',
      (it) => planFromCode(sidecar, it instanceof Uri ? it : undefined),
      t('Could not make the plan'),
    ),
  );
}

/** @param argument the file that describes the project; else the person is asked */
async function newProject(
  sidecar: Sidecar,
  store: DraftStore,
  draft: PlanDraft,
  argument: unknown,
): Promise<void> {
  const beginning = argument instanceof Uri ? argument : await pickDescription(store.current);
  if (beginning === 'continue') return await draft.resume();
  const spec = beginning === 'write' ? await written() : beginning;
  if (spec === undefined) return;
  // The sidecar reads the saved text.
  const open = workspace.textDocuments.find((it) => it.uri.toString() === spec.toString());
  if (open?.isDirty && !(await open.save())) return;
  const choice = await pickDraft(sidecar, spec);
  if (choice !== undefined) await draft.begin(choice);
}

/** Lets the person write a description; returns it once it is saved. */
async function written(): Promise<Uri | undefined> {
  const file = await writeDescription();
  if (file === undefined) return undefined;
  const next = t('Draft Plan');
  const text = t('Describe the project, sentence by sentence. Then draft its plan.');
  if ((await notify.info(text, next)) !== next) return undefined;
  const own = (uri: Uri) => uri.scheme === 'untitled' && uri.fsPath === file.fsPath;
  const document = workspace.textDocuments.find((it) => own(it.uri));
  return document === undefined || (await document.save()) ? file : undefined;
}

async function sendBack(draft: PlanDraft): Promise<void> {
  const { part } = draft.waiting();
  if (draft.isEdited() && !(await discardsEdits(part.part))) return;
  const words = await window.showInputBox({
    title: t('What should change?'),
    prompt: t('The model writes this part again: {0}.', part.part),
    ignoreFocusOut: true,
    validateInput: (it) => (it.trim() === '' ? t('Say what should change.') : undefined),
  });
  if (words !== undefined) await draft.sendBack(words.trim());
}

/** Asks whether the person gives up own edits of a part. */
async function discardsEdits(part: string): Promise<boolean> {
  const discard = t('Discard Edits and Send Back');
  const detail = t('The model writes the part again from its own text. To keep your edits, accept the part.');
  return (await notify.dialog(t('You edited this part: {0}.', part), detail, discard)) === discard;
}
