// A sidecar for tests, and the Testing view with it.
import type { Memento, TestController } from 'vscode';
import { FixRequests } from '../../src/approval/fix_requests';
import type { RunTestsResult, Event as TrellisEvent } from '../../src/protocol';
import type { SidecarState } from '../../src/sidecar/api';
import type { Client } from '../../src/sidecar/client';
import { TestingController } from '../../src/testing/controller';
import { type Controller, EventEmitter, editor, Uri } from './vscode';

/** A request with its parameters. */
export type SentRequest = [method: string, params: Record<string, unknown>];

export class FakeSidecar {
  readonly states = new EventEmitter<SidecarState>();
  readonly events = new EventEmitter<TrellisEvent>();
  readonly lenses = new EventEmitter<{ document: { uri: Uri }; lenses: readonly unknown[] }>();
  readonly onState = this.states.event;
  readonly onEvent = this.events.event;
  readonly onLenses = this.lenses.event;
  readonly requests: SentRequest[] = [];
  /** Answers by method; an error that one throws is the answer. */
  readonly answers: Record<string, (params: Record<string, unknown>) => unknown> = {
    'trellis/listRuns': () => ({ runs: [] }),
    'trellis/findTests': ({ root }) => ({ root, framework: 'pytest', files: [], invalid: [] }),
  };
  state: SidecarState = 'running';
  isEnding = false;

  request = async (method: string, params: Record<string, unknown>) => {
    this.requests.push([method, params]);
    return await this.answers[method]?.(params);
  };

  send = this.request;

  /** Returns the parameters of all requests of a method. */
  params(method: string): Record<string, unknown>[] {
    return this.requests.filter(([it]) => it === method).map(([, params]) => params);
  }
}

/** Types the sidecar as the extension's client. */
export function asClient(sidecar: FakeSidecar): Client {
  return sidecar as unknown as Client;
}

export interface TestingFixture {
  readonly sidecar: FakeSidecar;
  readonly testing: TestingController;
  readonly view: Controller;
}

/** Opens folders, and the Testing view. */
export function openTestingView(...folders: string[]): TestingFixture {
  editor.folders = folders.map((path) => ({ name: path, uri: Uri.file(path) }));
  const sidecar = new FakeSidecar();
  const testing = new TestingController(asClient(sidecar));
  testing.begin();
  return { sidecar, testing, view: viewOf(testing.controller) };
}

function viewOf(controller: TestController): Controller {
  return controller as unknown as Controller;
}

/** Makes the result of a test run. */
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

/** Makes the requests for fixes, whose results nobody sees. */
export function fixRequests(sidecar: FakeSidecar): FixRequests {
  const proposals = { refresh: async () => undefined };
  return new FixRequests(asClient(sidecar), proposals, { show: async () => undefined });
}

/** Makes a memento, which forgets all at the end of the test. */
export function memento(): Memento {
  const state = new Map<string, unknown>();
  const get = (key: string, otherwise?: unknown) => state.get(key) ?? otherwise;
  const update = async (key: string, value: unknown) => void state.set(key, structuredClone(value));
  return { keys: () => [...state.keys()], get, update } as Memento;
}

/** Lets pending promises resolve. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
}
