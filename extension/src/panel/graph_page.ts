// The page of the planning graph, beside the editors; it follows the shown run.
import { randomBytes } from 'node:crypto';
import { commands, l10n, Uri, ViewColumn, type Webview, type WebviewPanel, window } from 'vscode';
import { STATUSES } from '../run/run_state';
import type { RunChange, RunStore } from '../run/run_store';
import { graphMessage, parseMessage, statesMessage, type ToPage } from './graph_messages';
import { statusName } from './node_rows';

/** View type, by which the editor restores the page after a reload. */
export const GRAPH_VIEW = 'trellis.graph';

export class GraphPage {
  private panel: WebviewPanel | undefined;
  private isReady = false;
  /** Id of the selected node, sent when the page is ready. */
  private selection: string | undefined;

  constructor(
    private readonly extension: Uri,
    private readonly runs: RunStore,
    private readonly onSelect: (id: string) => void,
  ) {}

  /** Shows the page, and creates it if needed. */
  open(): void {
    if (this.panel !== undefined) {
      this.panel.reveal();
      return;
    }
    const title = l10n.t('Planning Graph');
    this.attach(window.createWebviewPanel(GRAPH_VIEW, title, ViewColumn.Active, this.options()));
  }

  /** Fills a page, a new one or one that the editor restored. */
  attach(panel: WebviewPanel): void {
    this.panel?.dispose();
    this.panel = panel;
    this.isReady = false;
    panel.webview.options = this.options();
    panel.iconPath = Uri.joinPath(this.extension, 'media', 'icon.svg');
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
    panel.onDidChangeViewState(() => {
      // A hidden page is discarded; the next one reports when it is ready.
      if (!panel.visible) this.isReady = false;
    });
    panel.webview.onDidReceiveMessage((message: unknown) => this.receive(message));
    panel.webview.html = this.html(panel.webview);
  }

  /** Sends changes to the page. */
  update({ run, changed }: RunChange): void {
    if (!this.isReady) return;
    if (run === undefined) this.send({ type: 'graph', out: '', nodes: [], edges: [] });
    else if (changed === 'all') this.send(graphMessage(run));
    else if (changed.size > 0) this.send(statesMessage(run, changed));
  }

  select(id: string): void {
    this.selection = id;
    if (this.isReady && this.panel?.visible) this.send({ type: 'select', id });
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private receive(message: unknown): void {
    const received = parseMessage(message);
    const run = this.runs.current;
    switch (received?.type) {
      case 'ready':
        this.isReady = true;
        if (run !== undefined) this.send(graphMessage(run));
        if (this.selection !== undefined && this.selection !== received.chosen)
          this.send({ type: 'select', id: this.selection });
        break;
      case 'open':
        void commands.executeCommand('trellis.openNode', received.id);
        break;
      case 'tests':
        void commands.executeCommand('trellis.openNodeTests', received.id);
        break;
      case 'retry':
        void commands.executeCommand('trellis.retryThisNode', received.id);
        break;
      case 'selected':
        this.selection = received.id;
        this.onSelect(received.id);
        break;
      case undefined:
        break;
    }
  }

  private send(message: ToPage): void {
    // Messages that are lost are no loss: a page gets the whole graph when it is ready.
    void this.panel?.webview.postMessage(message);
  }

  private options() {
    // A hidden page is discarded: drawing 2,000 nodes again takes less than keeping them.
    const places = ['dist', 'media'].map((it) => Uri.joinPath(this.extension, it));
    return { enableScripts: true, localResourceRoots: places };
  }

  private html(webview: Webview): string {
    const nonce = randomBytes(16).toString('base64');
    const at = (...path: string[]) => webview.asWebviewUri(Uri.joinPath(this.extension, ...path)).toString();
    const names = STATUSES.map((it) => [it, statusName(it, l10n.t)]);
    const texts = {
      states: { ...Object.fromEntries(names), other: statusName('other', l10n.t) },
      needs: l10n.t('depends on {0}, used by {1}'),
      node: l10n.t('{0}, {1}, subgraph {2}, {3}'),
      none: l10n.t('No node with that name.'),
    };
    const policy = `default-src 'none'; style-src ${webview.cspSource} 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
    const legend = names.map(
      ([it, name]) => `<li><span class="dot ${it}"></span>${escaped(name ?? '')}</li>`,
    );
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style id="__________cytoscape_stylesheet" nonce="${nonce}"></style>
<link rel="stylesheet" href="${at('media', 'graph.css')}">
<title>${escaped(l10n.t('Planning Graph'))}</title>
</head>
<body>
<header>
<input id="find" type="search" list="names" aria-label="${escaped(l10n.t('Find a node'))}" placeholder="${escaped(l10n.t('Find a node'))}">
<datalist id="names"></datalist>
<ul id="legend">${legend.join('')}</ul>
<button id="fit" type="button">${escaped(l10n.t('Fit'))}</button>
</header>
<main id="graph" role="application" tabindex="0" aria-label="${escaped(l10n.t('Planning graph: arrow keys move between nodes, Enter opens the code, T opens the tests, R retries'))}"></main>
<p id="said" role="status" aria-live="polite"></p>
<p id="empty">${escaped(l10n.t('No run yet. Start one with "Trellis: Generate Repository from Graph…".'))}</p>
<script id="texts" type="application/json" nonce="${nonce}">${JSON.stringify(texts).replaceAll('<', '\\u003c')}</script>
<script nonce="${nonce}" src="${at('dist', 'graph.js')}"></script>
</body>
</html>`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
