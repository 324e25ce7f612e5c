// Tests for a function: generated, shown, and written once the person accepts them.
import { isAbsolute, join } from 'node:path';
import {
  commands,
  type Disposable,
  l10n,
  Position,
  Selection,
  TestRunRequest,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Generated } from '../protocol';
import { sentence } from '../sentence';
import { requestSettings } from '../settings/request_settings';
import type { Client } from '../sidecar/client';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
import { applyOutcome } from './apply_outcome';
import { outcomesOfGenerated } from './outcomes';
import { functionIdOfUri, PreviewTabs } from './preview_tabs';
import {
  functionIdOf,
  functionName,
  passText,
  previewOf,
  previewTitle,
  type TestPreview,
  type TestPreviews,
} from './test_previews';
import type { TestView } from './test_view';

const t = l10n.t;

/** Registers the commands that generate, show, accept and discard tests. */
export function registerGeneratedTests(
  sidecar: Client,
  testing: TestView,
  previews: TestPreviews,
): Disposable[] {
  const work = new GeneratedTests(sidecar, testing, previews);
  const decision = (name: string, failure: string, decide: (it: TestPreview) => Promise<void>) =>
    commands.registerCommand(
      name,
      guarded(failure, async (argument: unknown) => {
        const preview = await work.choose(argument);
        if (preview !== undefined) await decide(preview);
      }),
    );
  const update = () =>
    void commands.executeCommand('setContext', 'trellis.hasTestPreviews', previews.all.length > 0);
  update();
  return [
    work.tabs.begin(),
    previews.onChange(update),
    commands.registerCommand(
      'trellis.generateTests',
      guarded(t('No tests were generated'), (it: unknown) => work.generate(it)),
    ),
    decision('trellis.reviewTests', t('Could not show the tests'), (it) => work.tabs.show(it)),
    decision('trellis.acceptTests', t('The tests were not written'), (it) => work.accept(it)),
    decision('trellis.discardTests', t('Could not discard the tests'), (it) => work.discard(it)),
  ];
}

class GeneratedTests {
  readonly tabs: PreviewTabs;

  constructor(
    private readonly sidecar: Client,
    private readonly testing: TestView,
    private readonly previews: TestPreviews,
  ) {
    this.tabs = new PreviewTabs(previews);
  }

  /** Generates tests, and shows or writes them. */
  async generate(argument: unknown): Promise<void> {
    const place = settingsPath(argument);
    const preview = workspace.getConfiguration('trellis', Uri.file(place)).get('previewTests', true);
    // The sidecar made the argument of the lens, and checks it again.
    const params = {
      ...(await requestSettings('trellis/generateTests', place)),
      preview,
      ...fields(argument),
    };
    const made = await requestWithProgress(
      this.sidecar,
      'trellis/generateTests',
      params as never,
      t('Generating tests'),
    );
    if (made === undefined) return;
    const waiting = previewOf(made);
    if (waiting === undefined) return await this.announce(made);
    await this.previews.put(waiting);
    await this.tabs.show(waiting);
    await this.ask(waiting);
  }

  /** Returns the preview that a row, a lens, or the active tab names, else the only or the chosen one. */
  async choose(argument: unknown): Promise<TestPreview | undefined> {
    const named = argument instanceof Uri ? functionIdOfUri(argument) : functionIdOf(argument);
    const id = named ?? this.tabs.active;
    const found = id && this.previews.find(id);
    if (found !== undefined || named !== undefined) return found;
    const { all } = this.previews;
    if (all.length === 0) return void (await notify.info(t('No tests to review.')));
    const items = all.map((it) => ({
      label: previewTitle(it, t),
      description: passText(it, t),
      preview: it,
    }));
    const chosen =
      items.length === 1 ? items[0] : await window.showQuickPick(items, { title: t('Which tests?') });
    return chosen?.preview;
  }

  /** Writes the tests as they were shown. */
  async accept(preview: TestPreview): Promise<void> {
    const { root, function: name, path, source, testNames, draft } = preview;
    const params = { root, function: name, path, source, testNames, draft };
    const { warnings, leftOutBy } = await this.sidecar.request('trellis/keepTests', params);
    await this.discard(preview);
    await this.announce({ ...preview, written: true, warnings, leftOutBy: leftOutBy ?? null });
  }

  async discard(preview: TestPreview): Promise<void> {
    await this.tabs.close(preview);
    await this.previews.remove(preview);
  }

  /** Says how the run of tests ended that are shown. */
  private async ask(preview: TestPreview): Promise<void> {
    const [accept, later] = [t('Accept'), t('Later')];
    const text = t(
      'Tests for {0}: {1}. Nothing is written yet.',
      functionName(preview),
      passText(preview, t),
    );
    const show = isGood(preview) ? notify.info : notify.warn;
    const chosen = await show([text, ...preview.warnings.map(sentence)].join(' '), accept, later);
    if (chosen === accept) await commands.executeCommand('trellis.acceptTests', preview);
  }

  /** Says how the run of tests ended that are written, or why there are none. */
  private async announce(made: Generated): Promise<void> {
    this.showOutcomes(made);
    const name = functionName(made);
    const none = t('Tests for {0}: {1}', name, made.reason ?? made.outcome);
    const text = made.tests.length === 0 ? none : t('Tests for {0}: {1}', name, passText(made, t));
    const [open, add] = [t('Open Tests'), t('Add to testpaths')];
    const actions = made.written ? [open, ...(made.leftOutBy ? [add] : [])] : [];
    const show = isGood(made) ? notify.info : notify.warn;
    const chosen = await show([sentence(text), ...made.warnings.map(sentence)].join(' '), ...actions);
    if (chosen === add) await addTestPath(this.sidecar, made);
    if (chosen === open) await openTests(made);
  }

  /** Shows the outcomes of written tests, which have run, in the Testing view. */
  private showOutcomes(made: Generated): void {
    if (!made.written || made.tests.length === 0) return;
    const { controller, tree } = this.testing;
    const run = controller.createTestRun(new TestRunRequest(), made.function, false);
    for (const outcome of outcomesOfGenerated(made))
      applyOutcome(run, tree.place(outcome, Date.now()), outcome);
    run.end();
  }
}

function isGood({ tests }: Generated): boolean {
  return tests.length > 0 && tests.every((it) => it.outcome === 'passed');
}

async function openTests({ root, path, tests }: Generated): Promise<void> {
  const line = tests.find((it) => it.line)?.line;
  const editor = await window.showTextDocument(Uri.file(join(root, path)));
  if (line) editor.selection = new Selection(new Position(line - 1, 0), new Position(line - 1, 0));
}

/** Adds the tests to `testpaths`, so that plain pytest runs them. */
async function addTestPath(sidecar: Client, { root, path }: Generated): Promise<void> {
  const { file, folder } = await sidecar.request('trellis/addTestPath', { root, path });
  const text = folder
    ? t('Added {0} to testpaths in {1}. Plain pytest now runs these tests too.', folder, file)
    : t('testpaths in {0} already includes these tests.', file);
  await notify.info(text);
}

/** Returns the path whose settings apply: the project, else the file of the function, else the first folder. */
function settingsPath(argument: unknown): string {
  const { root, projectRoot, function: it } = fields(argument);
  const place = [root, projectRoot, fields(it).filePath].find(
    (path) => typeof path === 'string' && isAbsolute(path),
  );
  return typeof place === 'string' ? place : (workspace.workspaceFolders?.[0]?.uri.fsPath ?? '');
}
