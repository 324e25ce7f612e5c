// A Python debugger for tests, which runs nothing, and saves its launch configuration.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { other } from './other';
import type { Server } from './server';

const KEPT = 'debugged.json';

const adapter = `
const { debug, window, DebugAdapterInlineImplementation, EventEmitter } = require('vscode');
const { writeFileSync } = require('node:fs');
const { homedir } = require('node:os');
class Adapter {
  constructor() {
    this.said = new EventEmitter();
    this.onDidSendMessage = this.said.event;
  }
  handleMessage({ seq, command, arguments: given }) {
    if (command === 'launch') writeFileSync(homedir() + '/${KEPT}', JSON.stringify(given));
    this.said.fire({ type: 'response', seq: 0, request_seq: seq, command, success: true });
    if (command === 'initialize') this.said.fire({ type: 'event', seq: 0, event: 'initialized' });
    if (command === 'launch') this.said.fire({ type: 'event', seq: 0, event: 'terminated' });
  }
  dispose() {}
}
exports.activate = (context) => {
  const made = { createDebugAdapterDescriptor: () => new DebugAdapterInlineImplementation(new Adapter()) };
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory('debugpy', made),
    debug.onDidTerminateDebugSession(() => window.showInformationMessage('Debugged.')),
  );
};
`;

/** Packs the extension; it shows `Debugged.` when a session has ended. */
export function pythonDebugger(): string {
  const manifest = {
    engines: { vscode: '^1.100.0' },
    activationEvents: ['onDebug'],
    contributes: { debuggers: [{ type: 'debugpy', label: 'Python' }] },
  };
  return other('debugger', manifest, adapter);
}

/** Reads the launch configuration of the last session. */
export function debugged(server: Server): Record<string, unknown> {
  return JSON.parse(readFileSync(join(server.scratch.home, KEPT), 'utf8'));
}
