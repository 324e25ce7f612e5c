// Tests that have no place in the Testing view, such as those of the worktree of an issue: their lenses tell how they end.
import { l10n, ProgressLocation, window } from 'vscode';
import type { Client } from '../sidecar/client';
import { surroundings } from './controller';
import { Live } from './live';

/** Runs tests without showing them; rejects where they did not run. */
export async function runAside(sidecar: Client, root: string, paths: readonly string[]): Promise<void> {
  const params = { root, paths: [...paths], ...surroundings(root) };
  const options = {
    location: ProgressLocation.Notification,
    title: l10n.t('Running tests'),
    cancellable: true,
  };
  const live = new Live();
  // So that nobody who runs tests meanwhile takes this job for theirs.
  const listening = sidecar.onEvent((it) => live.hear(it));
  try {
    await window.withProgress(options, (_, token) => sidecar.request('trellis/runTests', params, token));
  } finally {
    listening.dispose();
    live.dispose();
  }
}
