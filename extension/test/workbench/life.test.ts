// Programs that are started as the sidecar and are none, or misbehave: they are stopped, and that is reported.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { limits } from '../lane/patience';
import { project } from '../lane/project';
import { write } from '../lane/scratch';
import { withSession } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const folder = mkdtempSync(join(tmpdir(), 'trellis-mute-'));
const stub = join(folder, 'stub.mjs');
/** Socket that the program connects to for as long as it lives. */
const socketPath = join(folder, 'ear');
const farewell = join(folder, 'farewell');
const mode = join(folder, 'mode');
/** The file `mode` decides what the program does; it stays alive when its streams are closed. */
const program = `#!${process.execPath}
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
const mode = readFileSync(${JSON.stringify(mode)}, 'utf8');
process.on('SIGTERM', () => {});
const ear = connect(${JSON.stringify(socketPath)});
await once(ear, 'connect');
ear.write('starts ' + process.pid + '\\n');
const nonsense = () => process.stdout.write('Traceback (most recent call last):\\r\\n\\r\\n');
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text);
};
const hear = ({ id, method }) => {
  if (method === 'initialize') send({ id, result: { capabilities: {}, serverInfo: { version: '0.1.0' } } });
  else if (method === 'trellis/listRuns') send({ id, result: { runs: [] } });
  else if (method === 'trellis/listFixes') send({ id, result: { fixes: [], problems: [] } });
  else if (method === 'trellis/listReviews') send({ id, result: { reviews: [], problems: [] } });
  else if (method === 'shutdown') send({ id, result: null });
  else if (method === 'exit') setTimeout(() => process.exit(writeFileSync(${JSON.stringify(farewell)}, '')), 700);
  else if (id !== undefined && method) send({ id, error: { code: -32601, message: 'no ' + method } });
  const message = 'stub says [its words](command:workbench.action.showAboutDialog)';
  if (method !== 'initialized') return;
  send({ method: 'window/showMessage', params: { type: 1, message } });
  ear.write('greeted ' + process.pid + '\\n');
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
process.on('SIGUSR2', nonsense);
if (mode === 'nonsense') nonsense();
if (mode === 'talks') process.stdin.setEncoding('latin1').on('data', read);
setInterval(() => {}, 1000);
`;
write(stub, program);
chmodSync(stub, 0o755);

/** Ids of the started, the initialized and the living processes; `change` is emitted when they change. */
const [started, greeted, alive]: [string[], string[], Set<string>] = [[], [], new Set()];
const changes = new EventEmitter();
const hearing = createServer((socket) => {
  let own = '';
  createInterface(socket).on('line', (line) => {
    const [what, pid = ''] = line.split(' ');
    (what === 'starts' ? started : greeted).push(pid);
    alive.add(pid);
    own = pid;
    changes.emit('change');
  });
  // A killed process may reset the connection.
  socket.on('error', () => {});
  socket.on('close', () => {
    alive.delete(own);
    changes.emit('change');
  });
}).listen(socketPath);
after(() => {
  hearing.close();
  rmSync(folder, { recursive: true });
});

async function until(holds: () => boolean, what: string): Promise<void> {
  const signal = AbortSignal.timeout(limits.page);
  while (!holds()) {
    await once(changes, 'change', { signal }).catch(() => {
      throw new Error(`in vain: ${what}; started ${started}, greeted ${greeted}, alive ${[...alive]}`);
    });
  }
}

test('a program that never answers is stopped and reported', async () => {
  writeFileSync(mode, 'mute');
  await withSession('life', { settings: { 'trellis.path': stub } }, async ({ server, workbench }) => {
    await workbench.open(project(server.scratch.root));
    await workbench.openFile('prices.py');
    await until(() => started.length === 1, 'it is started');
    for (const count of [2, 3]) {
      await workbench.command('Trellis: Restart Server');
      await until(() => started.length === count, 'it is started again');
    }
    await until(() => alive.size === 1, 'those before are gone');
    await workbench.notification('the server did not answer within').waitFor();
    await until(() => alive.size === 0, 'the last one is gone');
    await invalidOutput(workbench);
    await validOutput(workbench);
  });
});

/** Output that is no message is recognized at once. */
async function invalidOutput(workbench: Workbench): Promise<void> {
  writeFileSync(mode, 'nonsense');
  await workbench.command('Trellis: Restart Server');
  await workbench.notification('is not a Trellis server').waitFor();
  await until(() => alive.size === 0, 'it is gone');
}

/**
 * A program that initializes shows texts without links, is replaced when its output is broken, and has time to exit.
 */
async function validOutput(workbench: Workbench): Promise<void> {
  writeFileSync(mode, 'talks');
  await workbench.command('Trellis: Restart Server');
  // The list shows all notifications, not only the latest three.
  await workbench.command('Notifications: Show Notifications');
  const said = workbench.page
    .locator('.notifications-center .notification-list-item')
    .filter({ hasText: 'stub says' });
  await said.waitFor();
  assert.equal(await said.locator('.notification-list-item-message a').count(), 0, await said.innerHTML());
  const [first = ''] = alive;
  process.kill(Number(first), 'SIGUSR2');
  const count = started.length + 1;
  await until(() => started.length === count && !alive.has(first), 'another one is started');
  await until(() => greeted.length === 2, 'it is greeted');
  await workbench.command('Trellis: Restart Server');
  await until(() => started.length === count + 1, 'it is started again');
  assert.ok(existsSync(farewell), 'the one before ended by itself');
}
