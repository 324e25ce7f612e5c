// The sidecar as the rooms see it: found, started, greeted, started anew when it crashes.
import {
  type CancellationToken,
  type CodeLens,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  extensions,
  type LogOutputChannel,
  l10n,
  type TextDocument,
  workspace,
} from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Event as TrellisEvent } from '../protocol';
import { type MethodName, type Params, Refusal, type Result, type Sidecar, type SidecarState } from './api';
import { findBinary, probeFile } from './binary';
import { connection } from './connection';
import { sayWhile } from './passing';
import { type Child, ended, garbled, missing, silent, start } from './process';
import { refusalOf, told } from './refusal';
import { Restarts } from './restarts';
import * as say from './say';
import { OTHER_SERVERS, type SidecarSettings, sidecarSettings } from './settings';
import { shows } from './shows';
import { within } from './within';

/** The lenses that the sidecar gave for a document. */
export interface GivenLenses {
  readonly document: TextDocument;
  readonly lenses: readonly CodeLens[];
}

/** Variables for the process beside the editor's own, such as keys. */
export type Environment = () => Promise<NodeJS.ProcessEnv>;

/** Milliseconds that it takes to read what is past. */
const READING = 10_000;
/** Milliseconds in which a sidecar has to greet; ours needs a hundredth of a second. */
const GREETING = 20_000;
/** Milliseconds that a sidecar may take to end when it is asked to; the editor gives five seconds to who is closed. */
const ENDING = 4_000;

export class Client implements Sidecar {
  private readonly states = new EventEmitter<SidecarState>();
  private readonly events = new EventEmitter<TrellisEvent>();
  private readonly given = new EventEmitter<GivenLenses>();
  readonly onState = this.states.event;
  readonly onEvent = this.events.event;
  readonly onLenses = this.given.event;
  /** What is made known to each new life. */
  private readonly rooms: ((client: LanguageClient) => void)[] = [];
  private readonly restarts = new Restarts();
  private current: LanguageClient | undefined;
  private now: SidecarState = 'starting';
  /** Why it is stopped. */
  private reason: Refusal | undefined;
  /** Of the present life; what belongs to an earlier one is passed over. */
  private life = 0;
  private waiting: NodeJS.Timeout | undefined;
  /** The process of the present life. */
  private child: Child | undefined;
  /** One restart at a time; all who ask meanwhile get the same. */
  private restarting: Promise<void> | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly output: LogOutputChannel,
    private readonly environment: Environment,
  ) {}

  get state(): SidecarState {
    return this.now;
  }

  /** Answers a request of the sidecar's, from its next start on; what is thrown is the error of the answer. */
  answer<P>(method: string, answer: (params: P, token: CancellationToken) => Promise<unknown>): void {
    this.rooms.push((client) => client.onRequest(method, answer));
  }

  /** Hears a notification of the sidecar's, from its next start on. */
  hear<P>(method: string, ear: (params: P) => void): void {
    this.rooms.push((client) => client.onNotification(method, ear));
  }

  async request<M extends MethodName>(
    method: M,
    params: Params<M>,
    token?: CancellationToken,
  ): Promise<Result<M>> {
    return await this.send<Result<M>>(method, params, token);
  }

  /** A request of the Language Server Protocol, or one of ours that is in no description. */
  async send<R>(method: string, params: unknown, token?: CancellationToken): Promise<R> {
    const client = await this.ready(token);
    try {
      return await (token === undefined
        ? client.sendRequest<R>(method, params)
        : client.sendRequest<R>(method, params, token));
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /**
   * Starts it, if nothing was started yet, and follows settings and trust.
   * @param mayMove asked when the settings name another program
   */
  begin(mayMove: () => Promise<boolean>): Disposable[] {
    void this.launch();
    return [
      workspace.onDidChangeConfiguration((it) => {
        if (it.affectsConfiguration('trellis.path')) void this.change(mayMove);
        else if (it.affectsConfiguration('trellis')) void this.tellSettings();
      }),
      extensions.onDidChange(() => void this.tellSettings()),
      // Settings that were held back may name another program, and runs that stopped are offered at a start.
      workspace.onDidGrantWorkspaceTrust(() => void this.restart()),
    ];
  }

  private async change(mayMove: () => Promise<boolean>): Promise<void> {
    if (await mayMove()) await this.restart();
  }

  /** Ends it, and starts it anew; resolves when the old one is gone. */
  async restart(): Promise<void> {
    this.restarting ??= this.anew().finally(() => {
      this.restarting = undefined;
    });
    await this.restarting;
  }

  private async anew(): Promise<void> {
    this.restarts.forget();
    this.move('restarting');
    await this.leave();
    // The window may have been closed meanwhile.
    if (this.now === 'restarting') void this.launch();
  }

  /** Ends it for good; rejects nothing. */
  async end(): Promise<void> {
    this.move('stopped');
    await this.leave();
  }

  private async leave(): Promise<void> {
    this.life += 1;
    clearTimeout(this.waiting);
    const { current, child } = this;
    this.current = undefined;
    this.child = undefined;
    if (current?.isRunning()) {
      const stopped = current.stop(ENDING).catch((it) => this.output.warn(String(it)));
      // It has words to write and processes to end once it was asked.
      await within(ENDING, Promise.all([stopped, child && ended(child)]));
    }
    child?.kill('SIGKILL');
  }

  private async launch(): Promise<void> {
    this.life += 1;
    const { life } = this;
    if (this.now !== 'restarting') this.move('starting');
    try {
      const client = this.make(life);
      this.current = client;
      if (!(await within(GREETING, client.start()))) throw silent(GREETING);
      if (life !== this.life) return;
      this.move('running');
      this.greet(client);
    } catch (error) {
      this.failed(life, error);
    }
  }

  private make(life: number): LanguageClient {
    const server = async () => {
      const found = findBinary(this.places(), probeFile);
      if (!('path' in found)) throw missing(found);
      this.output.info(`server: ${found.path} (${found.source})`);
      const child = await start(found, await this.environment(), this.output);
      // Somebody wanted another one meanwhile.
      if (life !== this.life) child.kill('SIGKILL');
      else this.child = child;
      return child;
    };
    const client = connection(server, this.output, {
      closed: () => this.crashed(life),
      garbled: (error) => this.misheard(life, error),
      lenses: (document, lenses) => this.given.fire({ document, lenses }),
      shows: shows(
        () => workspace.isTrusted,
        () => workspace.getConfiguration('trellis').get('codeLenses', true),
      ),
      settings: () => this.settings(),
    });
    client.onNotification('trellis/event', (event: TrellisEvent) => this.events.fire(event));
    for (const room of this.rooms) room(client);
    return client;
  }

  private places() {
    return {
      setting: workspace.getConfiguration('trellis').get('path', '').trim(),
      extension: this.context.extensionPath,
      searched: process.env.PATH ?? '',
      windows: process.platform === 'win32',
    };
  }

  private settings(): SidecarSettings {
    const section = workspace.getConfiguration('trellis');
    const other = OTHER_SERVERS.some((it) => extensions.getExtension(it) !== undefined);
    return sidecarSettings((name) => section.get(name), workspace.isTrusted, other);
  }

  private async tellSettings(): Promise<void> {
    if (this.now !== 'running') return;
    const settings = { trellis: this.settings() };
    try {
      await this.current?.sendNotification('workspace/didChangeConfiguration', { settings });
    } catch (error) {
      // It is told them anew when it starts again.
      this.output.warn(`could not send the settings to the server: ${refusalOf(error).message}`);
    }
  }

  /** The sidecar ships with the extension; another version may speak otherwise. */
  private greet(client: LanguageClient): void {
    const theirs = client.initializeResult?.serverInfo?.version;
    const ours: unknown = this.context.extension.packageJSON.version;
    this.output.info(`the server is version ${theirs}, the extension is version ${ours}`);
    if (theirs === ours) return;
    const said = l10n.t(
      'The Trellis server is version {0}, but the extension is version {1}. They may not work together. Clear the setting "trellis.path", or install matching versions.',
      theirs ?? l10n.t('unknown'),
      String(ours),
    );
    void this.offer(say.warn(said, l10n.t('Show Output')));
  }

  private failed(life: number, error: unknown): void {
    if (life !== this.life) return;
    // What no other try would change is said at once.
    if (error instanceof Refusal) this.giveUp(error);
    else this.crashed(life, error);
  }

  /** What it says is no message: nothing after that can be made out, and nobody would be answered. */
  private misheard(life: number, error: Error): void {
    if (life !== this.life) return;
    this.output.error(`the server sent something that is not a message: ${error.message}`);
    if (this.now === 'running') this.crashed(life);
    else this.giveUp(garbled());
  }

  private crashed(life: number, error?: unknown): void {
    if (life !== this.life) return;
    this.life += 1;
    this.current = undefined;
    this.child?.kill('SIGKILL');
    this.child = undefined;
    if (error !== undefined) this.output.error(`the server did not start: ${refusalOf(error).message}`);
    const delay = this.restarts.next(performance.now());
    if (delay === undefined) {
      this.giveUp(new Refusal(l10n.t('the server crashed too often'), 69, undefined, 'unavailable'));
      return;
    }
    this.move('restarting');
    this.waiting = setTimeout(() => void this.launch(), delay);
    const said = l10n.t('Trellis crashed. It restarts in {0} s.', delay / 1000);
    void this.sayCrash(said);
  }

  /** Until it runs again, and a little longer, so that a person can read it. */
  private async sayCrash(text: string): Promise<void> {
    const said = { answers: [l10n.t('Show Output')], cancellable: false };
    const restarted = this.until((state) => state !== 'restarting');
    const chosen = await sayWhile({ ...said, text, past: restarted, working: true });
    if (chosen !== undefined || this.now !== 'running') return await this.act(chosen);
    const back = l10n.t('Trellis crashed and is running again.');
    const read = new Promise((resolve) => setTimeout(resolve, READING));
    await this.act(await sayWhile({ ...said, text: back, past: read, working: false }));
  }

  private giveUp(why: Refusal): void {
    this.life += 1;
    this.current = undefined;
    this.child?.kill('SIGKILL');
    this.child = undefined;
    this.reason = why;
    this.output.error(told(why));
    this.move('stopped');
    const said = l10n.t('Trellis is not running: {0}', told(why));
    void this.offer(say.error(said, l10n.t('Show Output'), l10n.t('Restart')));
  }

  private async offer(asking: Thenable<string | undefined>): Promise<void> {
    await this.act(await asking);
  }

  private async act(chosen: string | undefined): Promise<void> {
    if (chosen === l10n.t('Show Output')) this.output.show(true);
    if (chosen === l10n.t('Restart')) await this.restart();
  }

  private move(state: SidecarState): void {
    if (state === this.now) return;
    this.now = state;
    this.states.fire(state);
  }

  private async ready(token: CancellationToken | undefined): Promise<LanguageClient> {
    while (this.now !== 'running' || this.current === undefined) {
      if (this.now === 'stopped') throw this.stopped();
      if (token?.isCancellationRequested) throw new Refusal('cancelled', -32800, undefined, 'cancelled');
      await this.moved(token);
    }
    return this.current;
  }

  private moved(token: CancellationToken | undefined): Promise<void> {
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

  private async until(holds: (state: SidecarState) => boolean): Promise<void> {
    while (!holds(this.now)) await this.moved(undefined);
  }

  private stopped(): Refusal {
    const why = this.reason?.message ?? l10n.t('it was stopped');
    const hint = this.reason?.hint ?? l10n.t('run the command "Trellis: Restart Server"');
    return new Refusal(l10n.t('the Trellis server is not running: {0}', why), 69, hint, 'unavailable');
  }
}
