// Debugging tests: by the Python debugger, where it is installed.
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
import { means } from '../means/means';
import { type Sidecar, TrellisError } from '../sidecar/api';
import * as notify from '../sidecar/notify';
import { guarded } from '../sidecar/report_error';
import { bringsDebugger, launchOf } from './launch';
import { leavingOut, nestedIn } from './nested';
import { type Part, partsOf } from './parts';
import type { TestView } from './test_view';

/** Offers the profile, also where there is no debugger: whoever asks for it is told what to install. */
export function debugging(sidecar: Sidecar, testing: TestView): Disposable {
  const run = guarded(
    l10n.t('Could not start the debugger'),
    async (request: TestRunRequest, token: CancellationToken) => {
      const there = extensions.all.some((it) => bringsDebugger(it.packageJSON));
      await (there ? debugTests(sidecar, testing, request, token) : offerDebugger());
    },
  );
  const label = l10n.t('Debug (not sandboxed)');
  return testing.controller.createRunProfile(label, TestRunProfileKind.Debug, run);
}

/** The one that is meant where nobody has chosen another. */
const EXTENSION = 'ms-python.debugpy';

async function offerDebugger(): Promise<void> {
  const find = l10n.t('Find Extension');
  const said = l10n.t(
    'Could not start the debugger: no Python debugger is installed. Install "Python Debugger" ({0}), then debug again.',
    EXTENSION,
  );
  if ((await notify.error(said, find)) !== find) return;
  await commands.executeCommand('workbench.extensions.search', `@id:${EXTENSION}`);
}

/** One project after the other, outside the sandbox: a debugger has to reach the process. What it finds is its own to show. */
async function debugTests(
  sidecar: Sidecar,
  testing: TestView,
  request: TestRunRequest,
  token: CancellationToken,
): Promise<void> {
  for (const part of partsOf(testing.tree, request)) {
    if (token.isCancellationRequested) return;
    await debugPart(sidecar, part, token);
  }
}

/** Resolves when its session has ended. */
async function debugPart(sidecar: Sidecar, part: Part, token: CancellationToken): Promise<void> {
  const { root, ids } = part;
  const options = ids.length > 0 ? [] : leavingOut(root, await nestedIn(sidecar, root));
  const { python, packages } = await environmentOf(sidecar, root, token);
  const paths = [...sourcesOf(root), ...(packages === undefined ? [] : [packages])];
  const launch = launchOf({ root, ids, options, paths, python }, delimiter);
  const configuration = { ...launch, name: l10n.t('Trellis: debug tests') };
  const folder = workspace.getWorkspaceFolder(Uri.file(root));
  const listening: Disposable[] = [token.onCancellationRequested(() => void debug.stopDebugging())];
  try {
    // It may end before who started it hears that it has begun.
    const ended = new Promise<void>((resolve) => {
      listening.push(
        debug.onDidTerminateDebugSession((it) => {
          if (it.configuration.name === configuration.name) resolve();
        }),
      );
    });
    if (!(await debug.startDebugging(folder, configuration))) throw refused();
    await ended;
  } finally {
    for (const it of listening) it.dispose();
  }
}

/** What the tests of a project run with, as runs in the sandbox do, made ready where it is not. */
export async function environmentOf(sidecar: Sidecar, root: string, token: CancellationToken | undefined) {
  const params = { root, ...(await means('trellis/environment', root)) };
  const found = await sidecar.request('trellis/environment', params, token);
  if ('job' in found) throw refused();
  const { interpreter: python, packages } = found;
  return { python, packages: packages ?? undefined };
}

function refused(): TrellisError {
  return new TrellisError(
    l10n.t('the debugger refused to start'),
    69,
    l10n.t('check the message of the debugger'),
    'unavailable',
  );
}

/** As the sidecar puts them on the path: `src` of a project that is packaged, whether it is installed or not. */
function sourcesOf(root: string): string[] {
  const packaged = ['pyproject.toml', 'setup.py', 'setup.cfg'].some((it) => existsSync(join(root, it)));
  const sources = join(root, 'src');
  return packaged && existsSync(sources) ? [sources] : [];
}
