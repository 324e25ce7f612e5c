// Registers the Testing view, gutter marks, and commands of lenses.
import type { ExtensionContext } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { TestingController } from './controller';
import { registerDebugProfile } from './debugging';
import { showExternalRuns } from './external_runs';
import { FailingTests } from './failing_tests';
import { registerGenerateTests } from './generate_tests';
import { registerGutterMarks } from './gutter';
import { registerLensCommands } from './lens_commands';
import { dimOutdatedResults } from './outdated';

export function registerTesting(
  context: ExtensionContext,
  sidecar: Client,
  jobStore: JobStore,
): FailingTests {
  const view = new TestingController(sidecar);
  const failing = new FailingTests(sidecar, view);
  context.subscriptions.push(
    ...view.begin(),
    registerDebugProfile(sidecar, view),
    ...registerGutterMarks(context, sidecar),
    ...dimOutdatedResults(view),
    ...registerGenerateTests(sidecar, view, context.workspaceState),
    ...registerLensCommands(sidecar, jobStore, view),
    ...showExternalRuns(sidecar, jobStore, view),
    failing,
  );
  return failing;
}
