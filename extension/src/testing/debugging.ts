// Debugging of tests with the Python debugger, if it is installed.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  type CancellationToken,
  commands,
  type Disposable,
  debug,
  extensions,
  l10n,
  TestRunProfileKind,
  type TestRunRequest,
  Uri,
  workspace,
} from 'vscode';
import { requestSettings } from '../settings/request_settings';
import { type Sidecar, TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { contributesDebugger, launchConfiguration } from './debug_launch';
import { ignoreOptions, nestedRuns } from './nested_runs';
import type { TestView } from './test_view';
import { type ProjectTests, testsByProject } from './tests_by_project';

/** Registers the profile, also without a debugger: a message then tells what to install. */
export function registerDebugProfile(sidecar: Sidecar, testing: TestView): Disposable {
  const run = guarded(
    l10n.t('Could not start the debugger'),
    async (request: TestRunRequest, token: CancellationToken) => {
      const hasDebugger = extensions.all.some((it) => contributesDebugger(it.packageJSON));
      await (hasDebugger ? debugTests(sidecar, testing, request, token) : offerDebugger());
    },
  );
  const label = l10n.t('Debug (not sandboxed)');
  return testing.controller.createRunProfile(label, TestRunProfileKind.Debug, run);
}

/** The extension that is suggested. */
const DEBUGGER_EXTENSION = 'ms-python.debugpy';

async function offerDebugger(): Promise<void> {
  const find = l10n.t('Find Extension');
  const text = l10n.t(
    'Could not start the debugger: no Python debugger is installed. Install "Python Debugger" ({0}), then debug again.',
    DEBUGGER_EXTENSION,
  );
  if ((await notify.error(text, find)) !== find) return;
  await commands.executeCommand('workbench.extensions.search', `@id:${DEBUGGER_EXTENSION}`);
}

/**
 * Debugs one project after the other, outside the sandbox, since a debugger has to reach the process. Results are
 * shown by the debugger only.
 */
async function debugTests(
  sidecar: Sidecar,
  testing: TestView,
  request: TestRunRequest,
  token: CancellationToken,
): Promise<void> {
  for (const part of testsByProject(testing.tree, request)) {
    if (token.isCancellationRequested) return;
    await debugProject(sidecar, part, token);
  }
}

/** Resolves when the debug session has ended. */
async function debugProject(sidecar: Sidecar, part: ProjectTests, token: CancellationToken): Promise<void> {
  const { root, ids } = part;
  const options = ids.length > 0 ? [] : ignoreOptions(root, await nestedRuns(sidecar, root));
  const { python, packages } = await testEnvironment(sidecar, root, token);
  const paths = [...sourcesOf(root), ...(packages === undefined ? [] : [packages])];
  const launch = launchConfiguration({ root, ids, options, paths, python }, delimiter);
  const configuration = { ...launch, name: l10n.t('Trellis: debug tests') };
  const folder = workspace.getWorkspaceFolder(Uri.file(root));
  const listening: Disposable[] = [token.onCancellationRequested(() => void debug.stopDebugging())];
  try {
    // The session may end before `startDebugging` resolves.
    const sessionEnd = new Promise<void>((resolve) => {
      listening.push(
        debug.onDidTerminateDebugSession((it) => {
          if (it.configuration.name === configuration.name) resolve();
        }),
      );
    });
    if (!(await debug.startDebugging(folder, configuration))) throw debuggerError();
    await sessionEnd;
  } finally {
    for (const it of listening) it.dispose();
  }
}

/** Returns the Python environment that the project's tests run with; it is created if needed. */
export async function testEnvironment(sidecar: Sidecar, root: string, token: CancellationToken | undefined) {
  const params = { root, ...(await requestSettings('trellis/environment', root)) };
  const found = await sidecar.request('trellis/environment', params, token);
  if ('job' in found) throw debuggerError();
  const { interpreter: python, packages } = found;
  return { python, packages: packages ?? undefined };
}

function debuggerError(): TrellisError {
  return new TrellisError(
    l10n.t('the debugger refused to start'),
    69,
    l10n.t('check the message of the debugger'),
    'unavailable',
  );
}

/** Returns the folder `src` of a packaged project, which the sidecar adds to the path, too. */
function sourcesOf(root: string): string[] {
  const packaged = ['pyproject.toml', 'setup.py', 'setup.cfg'].some((it) => existsSync(join(root, it)));
  const sources = join(root, 'src');
  return packaged && existsSync(sources) ? [sources] : [];
}
