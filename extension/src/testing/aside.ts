// Tests that have no place in the Testing view, such as those of the worktree of an issue: their lenses tell how they end.
import { l10n } from 'vscode';
import { means } from '../means/means';
import type { Client } from '../sidecar/client';
import { requestWithProgress } from '../sidecar/job_progress';

/** Runs tests without showing them; rejects where they did not run. */
export async function runAside(sidecar: Client, root: string, paths: readonly string[]): Promise<void> {
  const params = { root, paths: [...paths], ...(await means('trellis/runTests', root)) };
  await requestWithProgress(sidecar, 'trellis/runTests', params, l10n.t('Running tests'));
}
