// Client of the sidecar: finds and starts the program, checks its version, restarts it after a crash.
import {
  type CancellationToken,
  type CodeLens,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  extensions,
  type LogOutputChannel,
  l10n,
  ProgressLocation,
  type TextDocument,
  type Uri,
  window,
  workspace,
} from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Event as TrellisEvent } from '../protocol';
import {
  type MethodName,
  type Params,
  type Result,
  type Sidecar,
  type SidecarState,
  TrellisError,
} from './api';
import { findBinary, probeFile } from './binary';
import { createConnection } from './connection';
import { errorText, toTrellisError } from './errors';
import type { LensSettings } from './lens_filter';
import * as notify from './notify';
import {
  type Child,
  exited,
  invalidMessageError,
  noAnswerError,
  notFoundError,
  startProcess,
} from './process';
import { RestartPolicy } from './restart_policy';
import { OTHER_LANGUAGE_SERVERS, type ServerSettings, serverSettings } from './server_settings';
import { completesWithin } from './with_timeout';

/** Lenses that the sidecar gave for a document. */
export interface DocumentLenses {
  readonly document: TextDocument;
  readonly lenses: readonly CodeLens[];
}

/** Makes the environment variables of the process that differ from the editor's own, such as API keys. */
export type Environment = () => Promise<NodeJS.ProcessEnv>;

/** Milliseconds in which a sidecar has to answer `initialize`; ours takes a hundredth of a second. */
const START_TIMEOUT_MS = 20_000;
/** Milliseconds that a sidecar has to exit; the editor gives an extension five seconds when a window closes. */
const STOP_TIMEOUT_MS = 4_000;

export class Client implements Sidecar {
  private readonly stateEmitter = new EventEmitter<SidecarState>();
  private readonly eventEmitter = new EventEmitter<TrellisEvent>();
  private readonly lensEmitter = new EventEmitter<DocumentLenses>();
  readonly onState = this.stateEmitter.event;
  readonly onEvent = this.eventEmitter.event;
  readonly onLenses = this.lensEmitter.event;
  /** Registrations that are repeated for each new connection. */
  private readonly handlers: ((client: LanguageClient) => void)[] = [];
  private readonly restarts = new RestartPolicy();
  private client: LanguageClient | undefined;
  private currentState: SidecarState = 'starting';
  isEnding = false;
  /** Reason of the state `stopped`. */
  private stopReason: TrellisError | undefined;
  /** Number of the current process; callbacks of earlier processes are ignored. */
  private session = 0;
  private restartTimer: NodeJS.Timeout | undefined;
  /** Process of the current session. */
  private child: Child | undefined;
  /** Restart under way; concurrent calls share it. */
  private restarting: Promise<void> | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly output: LogOutputChannel,
    private readonly environment: Environment,
  ) {}

  get state(): SidecarState {
    return this.currentState;
  }

  /**
   * Registers the handler of a request of the sidecar, from the next start on. An error that it throws is the answer.
   */
  handleRequest<P>(method: string, answer: (params: P, token: CancellationToken) => Promise<unknown>): void {
    this.handlers.push((client) => client.onRequest(method, answer));
  }

  /** Registers the handler of a notification of the sidecar, from the next start on. */
  handleNotification<P>(method: string, listener: (params: P) => void): void {
    this.handlers.push((client) => client.onNotification(method, listener));
  }

  async request<M extends MethodName>(
    method: M,
    params: Params<M>,
    token?: CancellationToken,
  ): Promise<Result<M>> {
    return await this.send<Result<M>>(method, params, token);
  }

  /** Sends a request of the Language Server Protocol, or one of ours that the API description does not have. */
  async send<R>(method: string, params: unknown, token?: CancellationToken): Promise<R> {
    const client = await this.ready(token);
    try {
      return await (token === undefined
        ? client.sendRequest<R>(method, params)
        : client.sendRequest<R>(method, params, token));
    } catch (error) {
      throw toTrellisError(error);
    }
  }

  /**
   * Starts the sidecar, and follows settings and trust.
   * @param confirmRestart asked when the settings name another program
   */
  begin(confirmRestart: () => Promise<boolean>): Disposable[] {
    void this.launch();
    return [
      workspace.onDidChangeConfiguration((it) => {
        if (it.affectsConfiguration('trellis.path')) void this.pathChanged(confirmRestart);
        else if (it.affectsConfiguration('trellis')) void this.sendSettings();
      }),
      extensions.onDidChange(() => void this.sendSettings()),
      // Restricted settings may name another program, and stopped runs are offered at a start.
      workspace.onDidGrantWorkspaceTrust(() => void this.restart()),
    ];
  }

  private async pathChanged(confirmRestart: () => Promise<boolean>): Promise<void> {
    if (await confirmRestart()) await this.restart();
  }

  /** Stops the sidecar and starts it again; resolves when the old process is gone. */
  async restart(): Promise<void> {
    this.restarting ??= this.restartNow().finally(() => {
      this.restarting = undefined;
    });
    await this.restarting;
  }

  private async restartNow(): Promise<void> {
    this.restarts.reset();
    this.setState('restarting');
    await this.stopCurrent();
    // The window may have been closed in the meantime.
    if (this.currentState === 'restarting') void this.launch();
  }

  /** Stops the sidecar for good; never rejects. */
  async end(): Promise<void> {
    this.isEnding = true;
    this.setState('stopped');
    await this.stopCurrent();
  }

  private async stopCurrent(): Promise<void> {
    this.session += 1;
    clearTimeout(this.restartTimer);
    const { client: current, child } = this;
    this.client = undefined;
    this.child = undefined;
    if (current?.isRunning()) {
      const stopping = current.stop(STOP_TIMEOUT_MS).catch((it) => this.output.warn(String(it)));
      // The process writes files and ends its own processes after the request to stop.
      await completesWithin(STOP_TIMEOUT_MS, Promise.all([stopping, child && exited(child)]));
    }
    child?.kill('SIGKILL');
  }

  private async launch(): Promise<void> {
    this.session += 1;
    const { session } = this;
    if (this.currentState !== 'restarting') this.setState('starting');
    try {
      const client = this.createClient(session);
      this.client = client;
      if (!(await completesWithin(START_TIMEOUT_MS, client.start()))) throw noAnswerError(START_TIMEOUT_MS);
      if (session !== this.session) return;
      this.setState('running');
      this.checkVersion(client);
    } catch (error) {
      this.startFailed(session, error);
    }
  }

  private createClient(session: number): LanguageClient {
    const server = async () => {
      const found = findBinary(this.locations(), probeFile);
      if (!('path' in found)) throw notFoundError(found);
      this.output.info(`server: ${found.path} (${found.source})`);
      const child = await startProcess(found, await this.environment(), this.output);
      // Another session has begun in the meantime.
      if (session !== this.session) child.kill('SIGKILL');
      else this.child = child;
      return child;
    };
    const client = createConnection(server, this.output, {
      onClosed: () => this.crashed(session),
      onInvalidMessage: (error) => this.receivedInvalidMessage(session, error),
      onLenses: (document, lenses) => this.lensEmitter.fire({ document, lenses }),
      lensSettings,
      settings: () => this.settings(),
    });
    client.onNotification('trellis/event', (event: TrellisEvent) => this.eventEmitter.fire(event));
    for (const register of this.handlers) register(client);
    return client;
  }

  /** Returns the path of the program; `undefined` if it is not found, which the start reports. */
  get program(): string | undefined {
    const found = findBinary(this.locations(), probeFile);
    return 'path' in found ? found.path : undefined;
  }

  private locations() {
    return {
      setting: workspace.getConfiguration('trellis').get('path', '').trim(),
      extension: this.context.extensionPath,
      pathVariable: process.env.PATH ?? '',
      windows: process.platform === 'win32',
    };
  }

  private settings(): ServerSettings {
    const section = workspace.getConfiguration('trellis');
    const other = OTHER_LANGUAGE_SERVERS.some((it) => extensions.getExtension(it) !== undefined);
    return serverSettings((name) => section.get(name), workspace.isTrusted, other);
  }

  private async sendSettings(): Promise<void> {
    if (this.currentState !== 'running') return;
    const settings = { trellis: this.settings() };
    try {
      await this.client?.sendNotification('workspace/didChangeConfiguration', { settings });
    } catch (error) {
      // The settings are sent again at the next start.
      this.output.warn(`could not send the settings to the server: ${toTrellisError(error).message}`);
    }
  }

  /** Warns if the versions of sidecar and extension differ: the protocol may differ as well. */
  private checkVersion(client: LanguageClient): void {
    const theirs = client.initializeResult?.serverInfo?.version;
    const ours: unknown = this.context.extension.packageJSON.version;
    this.output.info(`the server is version ${theirs}, the extension is version ${ours}`);
    if (theirs === ours) return;
    const text = l10n.t(
      'The Trellis server is version {0}, but the extension is version {1}. They may not work together. Clear the setting "trellis.path", or install matching versions.',
      theirs ?? l10n.t('unknown'),
      String(ours),
    );
    void this.offerActions(notify.warn(text, l10n.t('Show Output')));
  }

  private startFailed(session: number, error: unknown): void {
    if (session !== this.session) return;
    // Errors that another attempt would not change are reported at once.
    if (error instanceof TrellisError) this.giveUp(error);
    else this.crashed(session, error);
  }

  /** Handles output that is not a message: later messages cannot be read, and requests would never be answered. */
  private receivedInvalidMessage(session: number, error: Error): void {
    if (session !== this.session) return;
    this.output.error(`the server sent something that is not a message: ${error.message}`);
    if (this.currentState === 'running') this.crashed(session);
    else this.giveUp(invalidMessageError());
  }

  private crashed(session: number, error?: unknown): void {
    if (session !== this.session) return;
    this.session += 1;
    this.client = undefined;
    this.child?.kill('SIGKILL');
    this.child = undefined;
    if (error !== undefined) this.output.error(`the server did not start: ${toTrellisError(error).message}`);
    const delay = this.restarts.nextDelay(performance.now());
    if (delay === undefined) {
      this.giveUp(new TrellisError(l10n.t('the server crashed too often'), 69, undefined, 'unavailable'));
      return;
    }
    this.setState('restarting');
    this.restartTimer = setTimeout(() => void this.launch(), delay);
    const text = l10n.t('Trellis crashed. It restarts in {0} s.', delay / 1000);
    void this.reportCrash(text);
  }

  /** Reports a crash until the sidecar runs again, and then that it runs. */
  private async reportCrash(text: string): Promise<void> {
    const restarted = this.untilState((state) => state !== 'restarting');
    await window.withProgress({ location: ProgressLocation.Notification, title: text }, () => restarted);
    if (this.currentState !== 'running') return;
    const back = l10n.t('Trellis crashed and is running again.');
    await this.offerActions(notify.info(back, l10n.t('Show Output')));
  }

  private giveUp(why: TrellisError): void {
    this.session += 1;
    this.client = undefined;
    this.child?.kill('SIGKILL');
    this.child = undefined;
    this.stopReason = why;
    this.output.error(errorText(why));
    this.setState('stopped');
    const text = l10n.t('Trellis is not running: {0}', errorText(why));
    void this.offerActions(notify.error(text, l10n.t('Show Output'), l10n.t('Restart')));
  }

  private async offerActions(asking: Thenable<string | undefined>): Promise<void> {
    await this.runAction(await asking);
  }

  private async runAction(chosen: string | undefined): Promise<void> {
    if (chosen === l10n.t('Show Output')) this.output.show(true);
    if (chosen === l10n.t('Restart')) await this.restart();
  }

  private setState(state: SidecarState): void {
    if (state === this.currentState) return;
    this.currentState = state;
    this.stateEmitter.fire(state);
  }

  private async ready(token: CancellationToken | undefined): Promise<LanguageClient> {
    while (this.currentState !== 'running' || this.client === undefined) {
      if (this.currentState === 'stopped') throw this.stoppedError();
      if (token?.isCancellationRequested) throw new TrellisError('cancelled', -32800, undefined, 'cancelled');
      await this.stateChange(token);
    }
    return this.client;
  }

  private stateChange(token: CancellationToken | undefined): Promise<void> {
    return new Promise((resolve) => {
      const listening: Disposable[] = [];
      const done = () => {
        for (const it of listening) it.dispose();
        resolve();
      };
      listening.push(this.onState(done));
      if (token !== undefined) listening.push(token.onCancellationRequested(done));
    });
  }

  private async untilState(holds: (state: SidecarState) => boolean): Promise<void> {
    while (!holds(this.currentState)) await this.stateChange(undefined);
  }

  private stoppedError(): TrellisError {
    const why = this.stopReason?.message ?? l10n.t('it was stopped');
    const hint = this.stopReason?.hint ?? l10n.t('run the command "Trellis: Restart Server"');
    return new TrellisError(l10n.t('the Trellis server is not running: {0}', why), 69, hint, 'unavailable');
  }
}

function lensSettings(document: Uri): LensSettings {
  const section = workspace.getConfiguration('trellis.codeLens', document);
  return {
    isTrusted: workspace.isTrusted,
    generateTests: section.get('generateTests', true),
    results: section.get('results', true),
    tests: section.get('tests', false),
  };
}
