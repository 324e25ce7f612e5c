#!/usr/bin/env node
// A sidecar for the bench, with one run of many nodes, all of which change ten times a second while the file `go` exists in
// the home directory. It computes nothing: the editor's side is measured.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const count = 2000;
const go = join(homedir(), 'go');
const out = '/bench/out';
const states = ['pending', 'in_progress', 'passed', 'failed'];
const name = (index) => `node_${index}`;
const nodes = Array.from({ length: count }, (_, index) => ({
  id: name(index),
  name: name(index),
  kind: 'function',
  leaf: true,
  filePath: `src/m${index % 40}.py`,
  subgraph: `part ${index % 20}`,
  parents: [],
  // Two each, as in the plans that the field publishes: a wide graph of some twenty layers.
  dependsOn: index < 100 ? [] : [name(index - 100), name(index - 100 + ((index * 7) % 100))],
}));
const figures = {
  counts: {},
  total: count,
  completed: 0,
  percent: 0,
  current: [],
  failed: [],
  blocked: [],
  nodes: {},
};
const answers = {
  initialize: () => ({ capabilities: {}, serverInfo: { name: 'stub', version: '0.1.0' } }),
  shutdown: () => null,
  'trellis/listRuns': () => ({
    runs: [{ out, state: 'active', passed: 0, total: count, graph: '/bench/rpg.json' }],
  }),
  'trellis/planShow': () => ({ dialect: 'rpg', nodes, problems: [] }),
  'trellis/status': () => figures,
  'trellis/jobs': () => ({ jobs: [] }),
};

function send(message) {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function tell(event) {
  send({ method: 'trellis/event', params: event });
}

function heard({ id, method }) {
  if (method === 'exit') process.exit(0);
  if (method === 'initialized') begin();
  if (id === undefined || method === undefined) return;
  const answer = answers[method];
  if (answer === undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
  else send({ id, result: answer() });
}

function begin() {
  const job = 'job-1';
  tell({ type: 'job', job, method: 'generate', title: 'bench', state: 'running' });
  tell({ type: 'files', job, root: out, paths: [] });
  let turn = 0;
  setInterval(() => {
    if (!existsSync(go)) return;
    turn += 1;
    const status = states[turn % states.length];
    for (let index = 0; index < count; index += 1) tell({ type: 'node', job, node: name(index), status });
  }, 100);
}

let buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n');
    const length = Number(
      /Content-Length: (\d+)/i.exec(buffer.subarray(0, Math.max(end, 0)).toString())?.[1],
    );
    if (end < 0 || buffer.length < end + 4 + length) return;
    heard(JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString()));
    buffer = buffer.subarray(end + 4 + length);
  }
});
process.stdin.on('end', () => process.exit(0));
