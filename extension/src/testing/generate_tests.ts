// Generating tests for a function: they are previewed, and written when the person accepts them.
import { isAbsolute, join } from 'node:path';
import {
  commands,
  type Disposable,
  l10n,
  type Memento,
  Range,
  TestRunRequest,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Generated, KeptTests } from '../protocol';
import { requestSettings } from '../settings/request_settings';
import type { Params, Sidecar } from '../sidecar/api';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
import { applyOutcome } from './apply_outcome';
import { outcomesOfGenerated } from './outcomes';
import { activePreview, closePreviews, showPreview } from './preview_tabs';
import { PREVIEW_SCHEME, previewTextOf } from './preview_uri';
import { type GeneratedPreview, type TestPreview, TestPreviews } from './test_previews';
import type { TestView } from './test_view';

export function registerGenerateTests(sidecar: Sidecar, testing: TestView, saved: Memento): Disposable[] {
  const previews = new TestPreviews(saved);
  const command = (name: string, failure: string, work: (argument: unknown) => Promise<void>) =>
    commands.registerCommand(name, guarded(failure, work));
  const decision = (work: (preview: TestPreview) => Promise<void>) => async (argument: unknown) => {
    const id = (argument instanceof Uri ? previewTextOf(argument)?.id : undefined) ?? activePreview();
    const preview = id === undefined ? undefined : previews.find(id);
    if (preview !== undefined) await work(preview);
  };
  void closePreviews((id) => previews.find(id) === undefined);
  return [
    workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, previews),
    command('trellis.generateTests', l10n.t('No tests were generated'), (it) =>
      generateTests(sidecar, previews, it),
    ),
    command(
      'trellis.acceptTests',
      l10n.t('The tests were not written'),
      decision((it) => accept(sidecar, testing, previews, it)),
    ),
    command(
      'trellis.discardTests',
      l10n.t('Could not discard the tests'),
      decision((it) => discard(previews, it)),
    ),
  ];
}

async function generateTests(sidecar: Sidecar, previews: TestPreviews, argument: unknown): Promise<void> {
  const settings = await requestSettings('trellis/generateTests', settingsPath(argument));
  const params = { ...settings, ...fields(argument), preview: true } as Params<'trellis/generateTests'>;
  const generated = await requestWithProgress(
    sidecar,
    'trellis/generateTests',
    params,
    l10n.t('Generating tests'),
  );
  if (generated === undefined) return;
  if (isComplete(generated)) await preview(previews, generated);
  if (generated.warnings.length > 0 || !isComplete(generated)) await warn(generated);
}

/** Returns whether the tests can be written. */
function isComplete(generated: Generated): generated is GeneratedPreview {
  return generated.draft !== undefined && generated.draft !== null;
}

async function preview(previews: TestPreviews, generated: GeneratedPreview): Promise<void> {
  const earlier = previews.earlier(generated);
  if (earlier !== undefined) await discard(previews, earlier);
  await showPreview(await previews.add(generated));
}

async function warn({ function: name, outcome, reason, warnings, tests }: Generated): Promise<void> {
  const text = l10n.t('Tests for {0}: {1}', name, reason ?? outcome);
  await notify.warn([...(tests.length === 0 ? [text] : []), ...warnings].join('. '));
}

async function accept(
  sidecar: Sidecar,
  testing: TestView,
  previews: TestPreviews,
  preview: TestPreview,
): Promise<void> {
  const { root, function: name, path, source, testNames, draft } = preview.generated;
  const params = { root, function: name, path, source, testNames, draft };
  const kept = await sidecar.request('trellis/keepTests', params);
  showOutcomes(testing, preview.generated);
  await discard(previews, preview);
  await openTests(preview.generated);
  await showKept(sidecar, preview.generated, kept);
}

async function discard(previews: TestPreviews, { id }: TestPreview): Promise<void> {
  await closePreviews((it) => it === id);
  await previews.remove(id);
}

/** Opens the written file at the first of the tests. */
async function openTests({ root, path, tests }: Generated): Promise<void> {
  const line = (tests.find((it) => it.line)?.line ?? 1) - 1;
  await window.showTextDocument(Uri.file(join(root, path)), { selection: new Range(line, 0, line, 0) });
}

/** Shows what the person should know, and offers to let plain pytest run the tests. */
async function showKept(sidecar: Sidecar, generated: Generated, kept: KeptTests): Promise<void> {
  const { root, path } = generated;
  const leftOut = kept.leftOutBy
    ? [l10n.t('testpaths in {0} leaves these tests out of plain pytest', kept.leftOutBy)]
    : [];
  const texts = [...leftOut, ...kept.warnings];
  if (texts.length === 0) return;
  const add = l10n.t('Add to testpaths');
  const chosen = await notify.warn(texts.join('. '), ...(kept.leftOutBy ? [add] : []));
  if (chosen === add) await addTestPath(sidecar, root, path);
}

/** Adds the tests to `testpaths`, so that plain pytest runs them. */
async function addTestPath(sidecar: Sidecar, root: string, path: string): Promise<void> {
  const { file, folder } = await sidecar.request('trellis/addTestPath', { root, path });
  const text = folder
    ? l10n.t('Added {0} to testpaths in {1}. Plain pytest now runs these tests too.', folder, file)
    : l10n.t('testpaths in {0} already includes these tests.', file);
  await notify.info(text);
}

/** Shows the outcomes of generated tests, which have run, in the Testing view. */
function showOutcomes(testing: TestView, generated: Generated): void {
  if (generated.tests.length === 0) return;
  const run = testing.controller.createTestRun(new TestRunRequest(), generated.function, false);
  for (const outcome of outcomesOfGenerated(generated))
    applyOutcome(run, testing.tree.place(outcome, Date.now()), outcome);
  run.end();
}

/** Returns the path whose settings apply: the project, else the file of the function, else the first folder. */
function settingsPath(argument: unknown): string {
  const { root, projectRoot, function: it } = fields(argument);
  const place = [root, projectRoot, fields(it).filePath].find(
    (path) => typeof path === 'string' && isAbsolute(path),
  );
  return typeof place === 'string' ? place : (workspace.workspaceFolders?.[0]?.uri.fsPath ?? '');
}
