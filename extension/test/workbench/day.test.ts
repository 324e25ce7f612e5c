// A run from its start to its report, with everything that shows it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { endings, plannedPart, recorded } from '../lane/fixture';
import { limits } from '../lane/patience';
import { write } from '../lane/scratch';
import { type Session, withSession } from '../lane/session';
import { resumeElsewhere, sidecars } from '../lane/sidecar';

const settings = { 'trellis.model': recorded, 'trellis.sandbox': 'local', 'trellis.jobs': 2 };
const PART = ['data', 'preprocessing'];
const { passed = 0, failed = 0, skipped = 0 } = endings(PART);
const total = passed + failed + skipped;
const OFFER = /stopped after \d+ of \d+ nodes. Resume it/;

test('a graph is generated through a crash, cancellation and changed settings', async () => {
  await withSession('day', { settings }, async (session) => {
    const folder = plannedPart(session.server.scratch.root, PART);
    await startRun(session, folder);
    await killSidecar(session);
    await offerDisappears(session, folder);
    await reloadWindow(session);
    await resumeCancelled(session);
    await changePath(session, folder);
    await finishRun(session, folder);
  });
});

/** A run is started from the open graph. */
async function startRun({ workbench }: Session, folder: string): Promise<void> {
  await workbench.open(folder);
  await workbench.openFile('rpg.json');
  await workbench.statusItem('trellis.run').waitFor();
  await workbench.picture('day-1-graph-file');
  await workbench.command('Trellis: Generate Repository from Graph');
  await workbench.answerGenerate('rpg.json');
  await showsProgress(workbench.statusItem('trellis.run'));
  await workbench.picture('day-2-under-way');
}

/** The sidecar is killed during the run; it restarts, and the run is resumed. */
async function killSidecar({ server, workbench }: Session): Promise<void> {
  const [first, ...others] = sidecars(server);
  assert.ok(first !== undefined && others.length === 0, 'one sidecar serves the window');
  process.kill(first, 'SIGKILL');
  await workbench.notification('Trellis crashed').waitFor();
  await workbench.picture('day-3-crashed');
  // The message about the restart is shown for some seconds, before or after the offer.
  await Promise.all([
    workbench.notification('Trellis crashed and is running again.').waitFor(),
    workbench.notification(OFFER).waitFor(),
  ]);
  const [second] = sidecars(server);
  assert.ok(second !== undefined && second !== first, 'another sidecar was started');
  await workbench.picture('day-4-resume-offered');
  // Nodes in progress at the crash are stopped.
  await workbench.activity('Trellis');
  await workbench
    .treeItem(/\d+\/\d+ passed/)
    .first()
    .waitFor();
  await workbench
    .treeItem(/running/)
    .first()
    .waitFor({ state: 'detached' });
  // Both notifications disappear by themselves.
  await workbench.notification('Trellis crashed').waitFor({ state: 'detached' });
}

/** An offer disappears when another process resumes the run, or the person does in another way. */
async function offerDisappears({ server, workbench }: Session, folder: string): Promise<void> {
  const end = resumeElsewhere(server, folder);
  await workbench.notification(OFFER).waitFor({ state: 'detached' });
  await end();
  await workbench.command('Developer: Reload Window');
  await workbench.notification(OFFER).waitFor();
  await workbench.command('Trellis: Resume Stopped Run');
  await workbench.notification(OFFER).waitFor({ state: 'detached' });
  await showsProgress(workbench.statusItem('trellis.run'));
}

/** A run that a reload of the window ends goes on without a question. */
async function reloadWindow({ workbench }: Session): Promise<void> {
  await workbench.command('Developer: Reload Window');
  await workbench.notification('The run in output continues after the reload.').waitFor();
  await showsProgress(workbench.statusItem('trellis.run'));
  assert.equal(await workbench.notification(OFFER).count(), 0);
  await workbench.picture('day-5-reloaded');
}

/** A cancelled run can be resumed as long as nobody does. */
async function resumeCancelled({ workbench }: Session): Promise<void> {
  await workbench.command('Trellis: Cancel');
  const said = workbench.notification('was cancelled. What passed is kept');
  await said.waitFor();
  await workbench.picture('day-5-cancelled');
  await workbench.answer(said, 'Resume').click();
  await said.waitFor({ state: 'detached' });
  await showsProgress(workbench.statusItem('trellis.run'));
  await workbench.picture('day-5-resumed');
}

/** A setting that names another program stops no job without confirmation. */
async function changePath({ server, workbench }: Session, folder: string): Promise<void> {
  const before = sidecars(server);
  const settings = { 'trellis.path': '/nowhere/trellis' };
  write(join(folder, '.vscode', 'settings.json'), JSON.stringify(settings));
  await workbench.notification('Restarting now stops the running work').waitFor();
  assert.deepEqual(sidecars(server), before);
}

/** The run ends as the fixture says, and its report is opened. */
async function finishRun({ workbench }: Session, folder: string): Promise<void> {
  const said = workbench.notification(`${passed} of ${total} nodes passed`);
  await said.waitFor({ timeout: limits.generation });
  await workbench.hold(said);
  await workbench.picture('day-6-done');
  await said.locator(workbench.button('Show Report')).click();
  await workbench.tab('generation_report.md').waitFor();
  const report = workbench.webview().getByRole('heading', { level: 1 });
  await report.waitFor();
  await workbench.picture('day-7-report');
  const text = readFileSync(join(folder, 'output', 'docs', 'generation_report.md'), 'utf8');
  assert.ok(text.includes((await report.innerText()).trim()));
}

/** Waits until the status bar shows the progress of the run. */
async function showsProgress(item: Locator): Promise<void> {
  await item.filter({ hasText: /\d+\/\d+ \d+%/ }).waitFor();
}
