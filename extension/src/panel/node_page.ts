// The page of a node: why it failed, its attempts, and the next actions; it follows the run.

import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import {
  commands,
  type Disposable,
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
import { statusText } from './node_rows';
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
  private isLoading = false;
  /** Whether another request is needed after the open one. */
  private isOutdated = false;
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
      workspace.registerTextDocumentContentProvider(NODE_SCHEME, {
        provideTextDocumentContent: (uri) => this.text(uri),
      }),
    ];
  }

  /** Shows a node of a run; `isBeside` leaves the editor visible. */
  async open(out: string, id: string, isBeside = false): Promise<void> {
    const isOther = this.shown?.out !== out || this.shown.id !== id;
    this.shown = { out, id };
    if (isOther) this.facts = undefined;
    if (this.panel === undefined) {
      const column = isBeside ? ViewColumn.Beside : ViewColumn.Active;
      this.attach(window.createWebviewPanel(NODE_VIEW, t('Node'), column, this.options()), this.shown);
    } else {
      this.panel.reveal();
    }
    await this.load();
  }

  /** Fills a page, a new one or one that the editor restored. */
  attach(panel: WebviewPanel, shown: NodeId | undefined): void {
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
    void this.load();
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
      if (this.shown?.out === out && this.shown.id === id) this.facts = facts;
      this.draw();
    } catch (error) {
      this.send(`<p role="alert">${escaped(errorText(toTrellisError(error)))}</p>`);
    } finally {
      this.isLoading = false;
      if (this.isOutdated) await this.load();
    }
  }

  private draw(): void {
    const { panel, facts, shown } = this;
    if (panel === undefined || facts === undefined || shown === undefined) return;
    const run = this.runs.current?.out === shown.out ? this.runs.current : undefined;
    const node = run?.nodes.get(shown.id);
    const status = node === undefined ? facts.status : statusText(node, t);
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
    const query = new URLSearchParams(uri.query);
    const [out, node] = [query.get('out') ?? '', query.get('id') ?? ''];
    const facts = await this.sidecar.request('trellis/node', { out, node });
    return query.get('kind') === 'tests' ? facts.tests : facts.implementation;
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
      style: at('media', 'node.css'),
      script: at('dist', 'node.js'),
      body: '<main id="node"></main>',
    });
  }
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
