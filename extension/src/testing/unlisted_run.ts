// Runs of tests that the Testing view does not show, such as those in the worktree of an issue: their lenses show the
// outcomes.
import { l10n } from 'vscode';
import { requestSettings } from '../settings/request_settings';
import type { Client } from '../sidecar/client';
import { requestWithProgress } from '../sidecar/job_progress';

/** Runs tests without showing them; rejects if they could not run. */
export async function runUnlisted(sidecar: Client, root: string, paths: readonly string[]): Promise<void> {
  const params = { root, paths: [...paths], ...(await requestSettings('trellis/runTests', root)) };
  await requestWithProgress(sidecar, 'trellis/runTests', params, l10n.t('Running tests'));
}
