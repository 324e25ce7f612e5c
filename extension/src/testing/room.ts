// The room of tests: the Testing view, marks in the gutter, and what lenses do.
import type { ExtensionContext } from 'vscode';
import type { JobStore } from '../run/job_store';
import type { Client } from '../sidecar/client';
import { Testing } from './controller';
import { debugging } from './debugging';
import { gutter } from './gutter';
import { lensCommands } from './lens_commands';
import { showOthers } from './others';
import { outdating } from './outdated';

export function testing(context: ExtensionContext, sidecar: Client, jobStore: JobStore): void {
  const view = new Testing(sidecar);
  context.subscriptions.push(
    ...view.begin(),
    debugging(sidecar, view),
    ...gutter(context, sidecar),
    ...outdating(view),
    ...lensCommands(sidecar, jobStore, view),
    ...showOthers(sidecar, jobStore, view),
  );
}
