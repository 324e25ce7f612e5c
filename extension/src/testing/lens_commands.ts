// Commands of the sidecar's lenses and actions. Their arguments are parameters of its methods, which the sidecar
// checks.

import { isAbsolute, join } from 'node:path';
import {
  CancellationTokenSource,
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
import { retryNode } from '../generation/generate';
import { implementIssue } from '../issue/implement';
import type { Generated } from '../protocol';
import type { JobStore } from '../run/job_store';
import { requestSettings } from '../settings/request_settings';
import type { MethodName, Params } from '../sidecar/api';
import type { Client } from '../sidecar/client';
import { requestWithProgress } from '../sidecar/job_progress';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
import { applyOutcome } from './apply_outcome';
import { outcomesOfGenerated } from './outcomes';
import { peekFailure } from './peek_failure';
import { repair } from './repair';
import { runTests } from './run';
import type { TestView } from './test_view';
import { runUnlisted } from './unlisted_run';

export function registerLensCommands(sidecar: Client, jobStore: JobStore, testing: TestView): Disposable[] {
  const command = (
    name: string,
    failure: string,
    work: (argument: unknown, more: unknown) => Promise<unknown>,
  ) => commands.registerCommand(name, guarded(failure, work));
  return [
    command('trellis.runTests', l10n.t('Could not run the tests'), (it) => runListed(sidecar, testing, it)),
    command('trellis.generateTests', l10n.t('No tests were generated'), (it) =>
      generateTests(sidecar, testing, it),
    ),
    command('trellis.repair', l10n.t('Could not repair the tests'), (it) => {
      const { root } = fields(it);
      return repair(sidecar, typeof root === 'string' ? root : undefined);
    }),
    command('trellis.implement', l10n.t('Could not implement the issue'), (it) =>
      implementIssue(sidecar, it instanceof Uri ? it : undefined),
    ),
    command('trellis.retryNode', l10n.t('Could not retry the node'), (it) =>
      retryNode(sidecar, jobStore, paramsOf<'trellis/retryNode'>(fields(it))),
    ),
    command('trellis.showResult', l10n.t('Could not show the result'), (it, more) =>
      showResult(sidecar, testing, it, more),
    ),
  ];
}

/** Runs tests in the Testing view, so that it shows their results. */
async function runListed(sidecar: Client, testing: TestView, argument: unknown): Promise<void> {
  const { root, paths } = fields(argument);
  if (typeof root !== 'string' || !Array.isArray(paths)) return;
  const ids = paths.filter((it) => typeof it === 'string');
  if (testing.tree.isInternal(root)) return await runUnlisted(sidecar, root, ids);
  const items =
    ids.length === 0 ? [testing.tree.item(root, '')] : ids.map((id) => testing.tree.item(root, id));
  const request = new TestRunRequest(items, undefined, testing.profile);
  const source = new CancellationTokenSource();
  try {
    await runTests(sidecar, testing, request, { coverage: false }, source.token);
  } finally {
    source.dispose();
  }
}

async function generateTests(sidecar: Client, testing: TestView, argument: unknown): Promise<void> {
  const settings = await requestSettings('trellis/generateTests', settingsPath(argument));
  const params = paramsOf<'trellis/generateTests'>({ ...settings, ...fields(argument) });
  const written = await requestWithProgress(
    sidecar,
    'trellis/generateTests',
    params,
    l10n.t('Generating tests'),
  );
  if (written === undefined) return;
  const { root, path, tests, outcome, warnings } = written;
  showGenerated(testing, written);
  const passed = tests.filter((it) => it.outcome === 'passed').length;
  const counted = l10n.t('{0} of {1} tests for {2} passed', passed, tests.length, written.function);
  const text = tests.length === 0 ? l10n.t('Tests for {0}: {1}', written.function, outcome) : counted;
  const [open, add] = [l10n.t('Open Tests'), l10n.t('Add to testpaths')];
  const show = passed === tests.length && passed > 0 ? notify.info : notify.warn;
  const actions = written.leftOutBy && written.written ? [open, add] : [open];
  const chosen = await show([text, ...warnings].join('. '), ...actions);
  if (chosen === add) await addTestPath(sidecar, root, path);
  if (chosen !== open) return;
  const line = tests.find((it) => it.line)?.line;
  const editor = await window.showTextDocument(Uri.file(join(root, path)));
  if (line) editor.selection = new Selection(new Position(line - 1, 0), new Position(line - 1, 0));
}

/** Adds the tests to `testpaths`, so that plain pytest runs them. */
async function addTestPath(sidecar: Client, root: string, path: string): Promise<void> {
  const { file, folder } = await sidecar.request('trellis/addTestPath', { root, path });
  const text = folder
    ? l10n.t('Added {0} to testpaths in {1}. Plain pytest now runs these tests too.', folder, file)
    : l10n.t('testpaths in {0} already includes these tests.', file);
  await notify.info(text);
}

/** Shows the outcomes of generated tests, which have run, in the Testing view. */
function showGenerated(testing: TestView, written: Generated): void {
  if (!written.written || written.tests.length === 0) return;
  const run = testing.controller.createTestRun(new TestRunRequest(), written.function, false);
  for (const outcome of outcomesOfGenerated(written))
    applyOutcome(run, testing.tree.place(outcome, Date.now()), outcome);
  run.end();
}

/**
 * Shows a result: a failure in the editor's peek, else in a message of the sidecar.
 * @param more second argument of the lens, with the first failing test
 */
async function showResult(
  sidecar: Client,
  testing: TestView,
  argument: unknown,
  more: unknown,
): Promise<void> {
  const { root, test } = fields(fields(more).failing);
  if (typeof root === 'string' && typeof test === 'string' && (await peekFailure(testing, root, test)))
    return;
  const params = { command: 'trellis.showResult', arguments: [argument] };
  await sidecar.send<unknown>('workspace/executeCommand', params);
}

/** Types the argument of a lens as parameters; the sidecar made it, and checks it again. */
function paramsOf<M extends MethodName>(given: object): Params<M> {
  return given as Params<M>;
}

/** Returns the path whose settings apply: the project, else the file of the function, else the first folder. */
function settingsPath(argument: unknown): string {
  const { root, projectRoot, function: it } = fields(argument);
  const place = [root, projectRoot, fields(it).filePath].find(
    (path) => typeof path === 'string' && isAbsolute(path),
  );
  return typeof place === 'string' ? place : (workspace.workspaceFolders?.[0]?.uri.fsPath ?? '');
}
