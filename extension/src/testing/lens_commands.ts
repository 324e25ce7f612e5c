// Commands of the sidecar's lenses and actions. Their arguments are parameters of its methods, which the sidecar
// checks.

import { CancellationTokenSource, commands, type Disposable, l10n, TestRunRequest, Uri } from 'vscode';
import { retryNode } from '../generation/generate';
import { implementIssue } from '../issue/implement';
import type { JobStore } from '../run/job_store';
import type { MethodName, Params } from '../sidecar/api';
import type { Client } from '../sidecar/client';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
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
