// The page of a node: why it failed, its attempts, and the next actions; it follows the run.

import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import {
  commands,
  type Disposable,
  EventEmitter,
  l10n,
  Range,
  Uri,
  ViewColumn,
  type Webview,
  type WebviewPanel,
  window,
  workspace,
} from 'vscode';
import type { NodeResult } from '../protocol';
import type { JobStore } from '../run/job_store';
import { currentRun } from '../run/jobs';
import type { RunChange, RunStore } from '../run/run_store';
import type { Sidecar } from '../sidecar/api';
import { errorText, toTrellisError } from '../sidecar/errors';
import { guarded } from '../sidecar/report_error';
import { fields } from '../unknown_value';
import { escaped, pageHtml } from './html';
import { nodePageHtml } from './node_page_html';
import { statusNamed, statusText } from './node_rows';
import { lineOfTest } from './test_line';

const t = l10n.t;

/** View type, by which the editor restores the page after a reload. */
export const NODE_VIEW = 'trellis.node';
/** Scheme of the last texts of nodes, which are not on the disk. */
export const NODE_SCHEME = 'trellis-node';

/** A node by the folder of its run. */
export interface NodeId {
  readonly out: string;
  readonly id: string;
}

export class NodePage {
  private panel: WebviewPanel | undefined;
  private shown: NodeId | undefined;
  private facts: NodeResult | undefined;
  /** Reason that there are no facts. */
  private failure: string | undefined;
  private isLoading = false;
  /** Whether another request is needed after the open one. */
  private isOutdated = false;
  /** Texts in editors that a further attempt replaces. */
  private readonly changedTexts = new EventEmitter<Uri>();
  private readonly listening: Disposable[];

  constructor(
    private readonly extension: Uri,
    private readonly sidecar: Sidecar,
    private readonly runs: RunStore,
    private readonly jobStore: JobStore,
  ) {
    this.listening = [
      runs.onChange((change) => this.update(change)),
      jobStore.onChange(() => this.draw()),
      this.changedTexts,
      workspace.registerTextDocumentContentProvider(NODE_SCHEME, {
        onDidChange: this.changedTexts.event,
        provideTextDocumentContent: (uri) => this.text(uri),
      }),
    ];
  }

  /** Shows a node of a run; `isBeside` leaves the editor visible. */
  async open(out: string, id: string, isBeside = false): Promise<void> {
    const isOther = this.shown?.out !== out || this.shown.id !== id;
    this.shown = { out, id };
    if (isOther) [this.facts, this.failure] = [undefined, undefined];
    if (this.panel === undefined) {
      const column = isBeside ? ViewColumn.Beside : ViewColumn.Active;
      const panel = window.createWebviewPanel(NODE_VIEW, t('Node'), column, this.options());
      return await this.attach(panel, this.shown);
    }
    this.panel.reveal();
    await this.load();
  }

  /** Fills a page, a new one or one that the editor restored. */
  async attach(panel: WebviewPanel, shown: NodeId | undefined): Promise<void> {
    this.panel?.dispose();
    this.panel = panel;
    this.shown = shown;
    panel.webview.options = this.options();
    panel.iconPath = Uri.joinPath(this.extension, 'media', 'icon.svg');
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
    panel.webview.onDidReceiveMessage(
      guarded(t('Could not do that'), async (message: unknown) => await this.receive(message)),
    );
    panel.webview.html = this.html(panel.webview);
    await this.load();
  }

  dispose(): void {
    for (const it of this.listening) it.dispose();
    this.panel?.dispose();
  }

  private update({ run, changed }: RunChange): void {
    const { shown } = this;
    if (shown === undefined || run?.out !== shown.out) return;
    if (changed === 'all' || changed.has(shown.id)) void this.load();
  }

  /** Reads the facts; one request at a time. */
  private async load(): Promise<void> {
    if (this.panel === undefined || this.shown === undefined) return;
    this.isOutdated = this.isLoading;
    if (this.isLoading) return;
    const { out, id } = this.shown;
    this.isLoading = true;
    try {
      const facts = await this.sidecar.request('trellis/node', { out, node: id });
      this.take({ out, id }, facts);
    } catch (error) {
      this.failure = errorText(toTrellisError(error));
    } finally {
      this.isLoading = false;
    }
    this.draw();
    if (this.isOutdated) await this.load();
  }

  /** Takes in the facts of a node, unless the page shows another one by now. */
  private take({ out, id }: NodeId, facts: NodeResult): void {
    if (this.shown?.out !== out || this.shown.id !== id) return;
    [this.facts, this.failure] = [facts, undefined];
    for (const { uri } of workspace.textDocuments) {
      const shown = uri.scheme === NODE_SCHEME ? nodeIdOfText(uri) : undefined;
      if (shown?.out === out && shown.id === id) this.changedTexts.fire(uri);
    }
  }

  private draw(): void {
    const { panel, facts, shown, failure } = this;
    if (failure !== undefined) this.send(`<p role="alert">${escaped(failure)}</p>`);
    else if (panel !== undefined && facts !== undefined && shown !== undefined)
      this.drawFacts(panel, facts, shown);
  }

  private drawFacts(panel: WebviewPanel, facts: NodeResult, shown: NodeId): void {
    const run = this.runs.current?.out === shown.out ? this.runs.current : undefined;
    const node = run?.nodes.get(shown.id);
    const status = node === undefined ? statusNamed(facts.status, t) : statusText(node, t);
    const canRetry = workspace.isTrusted && currentRun(this.jobStore.jobs) === undefined;
    panel.title = facts.name;
    const state = { kind: run?.kind ?? 'generate', status, stage: node?.stage, canRetry } as const;
    this.send(nodePageHtml({ ...facts, status: node?.status ?? facts.status }, state, t));
  }

  private send(html: string): void {
    void this.panel?.webview.postMessage({ html, state: this.shown });
  }

  private async receive(message: unknown): Promise<void> {
    const { action, id } = fields(message);
    const { shown } = this;
    if (action === 'ready') return this.draw();
    if (shown === undefined || typeof action !== 'string') return;
    const target = typeof id === 'string' ? id : shown.id;
    const command = COMMANDS[action];
    if (command !== undefined) await commands.executeCommand(command, { out: shown.out, id: target });
    else if (action === 'tests' || action === 'code') await this.openText(action);
  }

  /** Opens the last tests, at the one that failed, or the last code. */
  private async openText(kind: 'tests' | 'code'): Promise<void> {
    const { facts, shown } = this;
    if (facts === undefined || shown === undefined) return;
    const path = (kind === 'tests' ? facts.testPath : facts.path) ?? `${facts.name}.py`;
    const query = new URLSearchParams({ out: shown.out, id: shown.id, kind }).toString();
    const uri = Uri.from({ scheme: NODE_SCHEME, path: `/${shown.id}/${basename(path)}`, query });
    const line = kind === 'tests' && facts.test ? lineOfTest(facts.tests, facts.test) : undefined;
    const selection = line === undefined ? {} : { selection: new Range(line - 1, 0, line - 1, 0) };
    await window.showTextDocument(uri, { preview: true, viewColumn: ViewColumn.Beside, ...selection });
  }

  private async text(uri: Uri): Promise<string> {
    const { out, id } = nodeIdOfText(uri);
    const facts = await this.sidecar.request('trellis/node', { out, node: id });
    return new URLSearchParams(uri.query).get('kind') === 'tests' ? facts.tests : facts.implementation;
  }

  private options() {
    return {
      enableScripts: true,
      localResourceRoots: ['dist', 'media'].map((it) => Uri.joinPath(this.extension, it)),
    };
  }

  private html(webview: Webview): string {
    const at = (...path: string[]) => webview.asWebviewUri(Uri.joinPath(this.extension, ...path)).toString();
    return pageHtml({
      title: t('Node'),
      nonce: randomBytes(16).toString('base64'),
      cspSource: webview.cspSource,
      styles: [at('media', 'page.css'), at('media', 'node.css')],
      script: at('dist', 'node.js'),
      body: '<main id="node"></main>',
    });
  }
}

/** Returns the node of a text in an editor. */
function nodeIdOfText(uri: Uri): NodeId {
  const query = new URLSearchParams(uri.query);
  return { out: query.get('out') ?? '', id: query.get('id') ?? '' };
}

/** Reads the node of a restored page; `undefined` if it has none. */
export function nodeIdOf(state: unknown): NodeId | undefined {
  const { out, id } = fields(state);
  return typeof out === 'string' && typeof id === 'string' ? { out, id } : undefined;
}

/** Commands behind the actions of the page; their argument names a node and its run. */
const COMMANDS: Readonly<Record<string, string>> = {
  retry: 'trellis.retryThisNode',
  retryWith: 'trellis.retryWithModel',
  edit: 'trellis.editSpecification',
  graph: 'trellis.showInGraph',
  node: 'trellis.openNode',
};
