// Programs that are started as the sidecar and are none, or misbehave: they are let go, and that is said.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { patience } from '../lane/browser';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { sitting } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const folder = mkdtempSync(join(tmpdir(), 'trellis-mute-'));
const stub = join(folder, 'stub.mjs');
const pids = join(folder, 'pids');
const farewell = join(folder, 'farewell');
const mode = join(folder, 'mode');
/** What it does is in the file `mode`; it goes on living when nobody hears it any more. */
const program = `#!${process.execPath}
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const mode = readFileSync(${JSON.stringify(mode)}, 'utf8');
appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
const nonsense = () => process.stdout.write('Traceback (most recent call last):\\r\\n\\r\\n');
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text);
};
const hear = ({ id, method }) => {
  if (method === 'initialize') send({ id, result: { capabilities: {}, serverInfo: { version: '0.1.0' } } });
  else if (method === 'trellis/listRuns') send({ id, result: { runs: [] } });
  else if (method === 'trellis/listFixes') send({ id, result: { fixes: [], problems: [] } });
  else if (method === 'shutdown') send({ id, result: null });
  else if (method === 'exit') setTimeout(() => process.exit(writeFileSync(${JSON.stringify(farewell)}, '')), 700);
  else if (id !== undefined && method) send({ id, error: { code: -32601, message: 'no ' + method } });
  const message = 'stub says [its words](command:workbench.action.showAboutDialog)';
  if (method === 'initialized') send({ method: 'window/showMessage', params: { type: 1, message } });
};
let text = '';
const read = (data) => {
  text += data;
  for (;;) {
    const [whole, length] = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text) ?? [];
    if (whole === undefined || text.length < whole.length + Number(length)) return;
    const body = text.slice(whole.length, whole.length + Number(length));
    text = text.slice(whole.length + Number(length));
    hear(JSON.parse(body));
  }
};
process.on('SIGTERM', () => {});
process.on('SIGUSR2', nonsense);
if (mode === 'nonsense') nonsense();
if (mode === 'talks') process.stdin.setEncoding('latin1').on('data', read);
setInterval(() => {}, 1000);
`;
write(stub, program);
chmodSync(stub, 0o755);
after(() => rmSync(folder, { recursive: true }));

const started = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n') : []);
const alive = () => started().filter((pid) => existsSync(`/proc/${pid}`));

async function until(holds: () => boolean, what: string): Promise<void> {
  const end = Date.now() + patience;
  while (!holds()) {
    assert.ok(Date.now() < end, `${what}: ${started()}, alive ${alive()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a program that never answers is let go, and that is said', async () => {
  writeFileSync(mode, 'mute');
  await sitting('life', { settings: { 'trellis.path': stub } }, async ({ server, workbench }) => {
    await workbench.open(project(server.scratch.root));
    await workbench.openFile('prices.py');
    await until(() => started().length === 1, 'it is started');
    for (const count of [2, 3]) {
      await workbench.command('Trellis: Restart Sidecar');
      await until(() => started().length === count, 'it is started again');
    }
    await until(() => alive().length === 1, 'those before are gone');
    await workbench.notification('did not greet within').waitFor();
    await until(() => alive().length === 0, 'the last one is gone');
    await talkedNonsense(workbench);
    await spoke(workbench);
  });
});

/** One that says what is no message is known at once. */
async function talkedNonsense(workbench: Workbench): Promise<void> {
  writeFileSync(mode, 'nonsense');
  await workbench.command('Trellis: Restart Sidecar');
  await workbench.notification('no message of a sidecar').waitFor();
  await until(() => alive().length === 0, 'it is gone');
}

/** One that greets says words, not links; is replaced when it stammers; and has the time to end as it should. */
async function spoke(workbench: Workbench): Promise<void> {
  writeFileSync(mode, 'talks');
  await workbench.command('Trellis: Restart Sidecar');
  // Where all of them are, not only the three that come up.
  await workbench.command('Notifications: Show Notifications');
  const said = workbench.page
    .locator('.notifications-center .notification-list-item')
    .filter({ hasText: 'stub says' });
  await said.waitFor();
  assert.equal(await said.locator('.notification-list-item-message a').count(), 0, await said.innerHTML());
  const [first] = alive();
  process.kill(Number(first), 'SIGUSR2');
  const count = started().length + 1;
  await until(() => started().length === count && !alive().includes(first ?? ''), 'another one is started');
  await workbench.command('Trellis: Restart Sidecar');
  await until(() => started().length === count + 1, 'it is started again');
  assert.ok(existsSync(farewell), 'the one before ended by itself');
}
