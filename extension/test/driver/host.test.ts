// Runs mocha inside the extension host of the lane, and prints its output.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { laneNamed, wanted } from '../lane/lanes';
import { limits, withLimit } from '../lane/patience';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import { extensionId } from '../lane/workbench';

test('inside the extension host', async () => {
  const lane = laneNamed(wanted('TRELLIS_LANE'));
  await withSession('host', { hostTests: lane.hostTestsOnRequest }, async ({ server, workbench }) => {
    const folder = project(server.scratch.root);
    write(
      join(folder, 'taxes.py'),
      '"""What the state takes."""\n\n\ndef tax(price):\n    return price / 5\n',
    );
    const { page } = workbench;
    const ended = await listen(page);
    const authority = new URL(server.url).host;
    const remote = (path: string) => `vscode-remote://${authority}${path}`;
    const payload = [
      ['extensionDevelopmentPath', remote(installed(server.scratch.extensions))],
      ['extensionTestsPath', remote(wanted('TRELLIS_HOST_TESTS'))],
    ];
    const query = `folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
    await page.goto(`${server.url}/?${query}`);
    const { code, said } = await withLimit(limits.hostTests, 'the end of the tests inside', ended());
    assert.equal(code, 0, `tests inside the extension host failed:\n${said.join('\n')}`);
  });
});

/** Exit code of the extension host, with the output of mocha and of the workbench. */
interface Ended {
  readonly code: number;
  readonly said: readonly string[];
}

/** Listens to the extension host; the result waits for its end. */
async function listen(page: Page): Promise<() => Promise<Ended>> {
  const lines: string[] = [];
  const complaints: string[] = [];
  let end = (_code: number): void => {};
  const code = new Promise<number>((resolve) => {
    end = resolve;
  });
  await page.exposeFunction('codeAutomationLog', (kind: string, args: unknown[]) => {
    const said = args.map((it) => String(it)).join(' ');
    // Mocha's output is in plain lines; a workbench that is closed logs errors about what it was doing.
    if (kind === 'log') console.log(said);
    (kind === 'log' ? lines : complaints).push(said);
  });
  await page.exposeFunction('codeAutomationExit', (it: number) => end(it));
  return async () => ({ code: await code, said: [...lines, ...complaints] });
}

/** Folder of our extension. */
function installed(extensions: string): string {
  const found = readdirSync(extensions).find((it) => it.startsWith(`${extensionId}-`));
  if (found === undefined) throw new Error(`${extensionId} is not installed in ${extensions}`);
  return join(extensions, found);
}
