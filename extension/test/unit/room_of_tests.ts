// The Testing view before an editor and a sidecar that are made up.
import type { TestController } from 'vscode';
import type { RunTestsResult, Event as TrellisEvent } from '../../src/protocol';
import type { SidecarState } from '../../src/sidecar/api';
import type { Client } from '../../src/sidecar/client';
import { TestingController } from '../../src/testing/controller';
import { type Controller, EventEmitter, editor, Uri } from './vscode';

/** A request, and what it was sent with. */
export type Asked = [method: string, params: Record<string, unknown>];

export class Sidecar {
  readonly states = new EventEmitter<SidecarState>();
  readonly events = new EventEmitter<TrellisEvent>();
  readonly lenses = new EventEmitter<{ document: { uri: Uri }; lenses: readonly unknown[] }>();
  readonly onState = this.states.event;
  readonly onEvent = this.events.event;
  readonly onLenses = this.lenses.event;
  readonly asked: Asked[] = [];
  /** Answers by method; what is thrown is the error. */
  readonly answers: Record<string, (params: Record<string, unknown>) => unknown> = {
    'trellis/listRuns': () => ({ runs: [] }),
  };
  state: SidecarState = 'running';

  request = async (method: string, params: Record<string, unknown>) => {
    this.asked.push([method, params]);
    return await this.answers[method]?.(params);
  };

  send = this.request;

  /** What a method was asked with, each time. */
  params(method: string): Record<string, unknown>[] {
    return this.asked.filter(([it]) => it === method).map(([, params]) => params);
  }
}

/** The sidecar as the extension takes it. */
export function asClient(sidecar: Sidecar): Client {
  return sidecar as unknown as Client;
}

export interface Room {
  readonly sidecar: Sidecar;
  readonly testing: TestingController;
  readonly view: Controller;
}

/** Opens folders, and the view of their tests. */
export function roomOf(...folders: string[]): Room {
  editor.folders = folders.map((path) => ({ name: path, uri: Uri.file(path) }));
  const sidecar = new Sidecar();
  const testing = new TestingController(asClient(sidecar));
  testing.begin();
  return { sidecar, testing, view: viewOf(testing.controller) };
}

function viewOf(controller: TestController): Controller {
  return controller as unknown as Controller;
}

/** What a run of tests came to. */
export function resultOf(root: string, given: Partial<RunTestsResult> = {}): RunTestsResult {
  return {
    root,
    outcome: 'passed',
    parsingFailed: false,
    tests: [],
    deselected: [],
    notRun: [],
    notes: [],
    collectionErrors: [],
    limits: [],
    durationMs: 1,
    ...given,
  };
}

/** Lets all promises that can be kept be kept. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
