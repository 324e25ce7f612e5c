// Registers the Testing view, gutter marks, and commands of lenses.
import type { ExtensionContext } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { TestingController } from './controller';
import { registerDebugProfile } from './debugging';
import { showExternalRuns } from './external_runs';
import { FailingTests } from './failing_tests';
import { registerGeneratedTests } from './generate_tests';
import { registerGutterMarks } from './gutter';
import { registerLensCommands } from './lens_commands';
import { dimOutdatedResults } from './outdated';
import { TestPreviews } from './test_previews';

export function registerTesting(
  context: ExtensionContext,
  sidecar: Client,
  jobStore: JobStore,
): { failing: FailingTests; previews: TestPreviews } {
  const view = new TestingController(sidecar);
  const failing = new FailingTests(sidecar, view);
  const previews = new TestPreviews(context.workspaceState);
  context.subscriptions.push(
    ...view.begin(),
    registerDebugProfile(sidecar, view),
    ...registerGutterMarks(context, sidecar),
    ...dimOutdatedResults(view),
    ...registerLensCommands(sidecar, jobStore, view),
    previews,
    ...registerGeneratedTests(sidecar, view, previews),
    ...showExternalRuns(sidecar, jobStore, view),
    failing,
  );
  return { failing, previews };
}
