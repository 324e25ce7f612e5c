// The page of the planning graph, beside the editors; it follows the shown run.
import { randomBytes } from 'node:crypto';
import { commands, l10n, Uri, ViewColumn, type Webview, type WebviewPanel, window } from 'vscode';
import { type Run, STATUSES } from '../run/run_state';
import type { RunChange, RunStore } from '../run/run_store';
import type { Sidecar } from '../sidecar/api';
import { graphMessage, parseMessage, planHeader, statesMessage, type ToPage } from './graph_messages';
import { escaped, pageHtml } from './html';
import { editSpecification } from './node_actions';
import { statusName } from './node_rows';
import { PlanEditor } from './plan_editor';
import type { PlanPreview } from './plan_preview';

/** View type, by which the editor restores the page after a reload. */
export const GRAPH_VIEW = 'trellis.graph';

export class GraphPage {
  private panel: WebviewPanel | undefined;
  private readonly editor: PlanEditor;
  private isReady = false;
  /** Id of the selected node, sent when the page is ready. */
  private selection: string | undefined;

  constructor(
    private readonly extension: Uri,
    private readonly runs: RunStore,
    private readonly preview: PlanPreview,
    private readonly onSelect: (id: string) => void,
    sidecar: Sidecar,
  ) {
    this.editor = new PlanEditor(sidecar, preview, (it) => this.send(it));
  }

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

  /** Sends the whole picture: that of a plan before its run, else of the shown run. */
  drawAll(): void {
    if (!this.isReady) return;
    const { current } = this.preview;
    if (current !== undefined) this.send(graphMessage(current.run, planHeader(current, l10n.t)));
    else this.update({ run: this.runs.current, changed: 'all' });
  }

  /** Sends changes of the run to the page. */
  update({ run, changed }: RunChange): void {
    if (!this.isReady || this.preview.current !== undefined) return;
    if (run === undefined) this.send({ type: 'graph', out: '', nodes: [] });
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
    const planned = this.preview.current?.run;
    switch (received?.type) {
      case 'ready':
        this.isReady = true;
        this.drawAll();
        if (this.selection !== undefined && this.selection !== received.chosen)
          this.send({ type: 'select', id: this.selection });
        break;
      case 'generate': {
        if (planned === undefined) break;
        const command = planned.kind === 'tasks' ? 'trellis.tasks' : 'trellis.generate';
        void commands.executeCommand(command, Uri.file(planned.graph));
        break;
      }
      case 'problems':
        if (planned !== undefined) void showProblems(planned.graph);
        break;
      case 'open':
        if (planned === undefined) void commands.executeCommand('trellis.openNode', received.id);
        else void this.openPlanned(planned, received.id);
        break;
      case 'tests':
        if (planned === undefined) void commands.executeCommand('trellis.openNodeTests', received.id);
        break;
      case 'retry':
        if (planned === undefined) void commands.executeCommand('trellis.retryThisNode', received.id);
        break;
      case 'selected':
        this.selection = received.id;
        if (planned === undefined) this.onSelect(received.id);
        else void this.editor.show(received.id);
        break;
      case 'try':
      case 'edit':
        void this.editor.receive(received);
        break;
      case undefined:
        break;
    }
  }

  /** Opens the entry of a node of a plan beside the picture. */
  private async openPlanned(run: Run, id: string): Promise<void> {
    const node = run.nodes.get(id);
    if (node !== undefined) await editSpecification({ run, node }, ViewColumn.Beside);
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
      found: l10n.t('{0} of {1}'),
      box: l10n.t('{0}, subgraph, {1}; Enter opens it'),
      openAll: l10n.t('Open All'),
      closeAll: l10n.t('Close All'),
      counts: l10n.t('{0}/{1} passed'),
      planned: l10n.t('{0} nodes'),
      unlink: l10n.t('Remove the dependency on'),
      example: l10n.t('Example'),
      readOnly: l10n.t('Only graphs in the format rpg can be edited.'),
    };
    const legend = names.map(
      ([it, name]) =>
        `<li><button type="button" data-status="${it}" aria-pressed="true"><span class="dot ${it}"></span>${escaped(name ?? '')} <span class="count"></span></button></li>`,
    );
    return pageHtml({
      title: l10n.t('Planning Graph'),
      nonce,
      cspSource: webview.cspSource,
      styles: [at('media', 'page.css'), at('media', 'graph.css')],
      script: at('dist', 'graph.js'),
      head: `<style id="__________cytoscape_stylesheet" nonce="${nonce}"></style>`,
      body: `<header>
<input id="find" type="search" aria-label="${escaped(l10n.t('Find a node'))}" placeholder="${escaped(l10n.t('Find a node'))}">
<span id="found" role="status"></span>
<ul id="legend" aria-label="${escaped(l10n.t('Show nodes by status'))}">${legend.join('')}</ul>
<button id="toggle" type="button"></button>
<button id="fit" type="button">${escaped(l10n.t('Fit'))}</button>
<div id="plan" hidden>
<span id="summary"></span>
<button id="chain" type="button" aria-pressed="false">${escaped(l10n.t('Longest Chain'))}</button>
<button id="problems" type="button"></button>
<button id="generate" type="button" class="primary"></button>
</div>
</header>
${formHtml()}
<main id="graph" role="application" tabindex="0" aria-label="${escaped(l10n.t('Planning graph: arrow keys move between nodes and subgraphs, Enter opens, Escape closes a subgraph, T opens the tests, R retries'))}"></main>
<p id="said" role="status" aria-live="polite"></p>
<p id="empty">${escaped(l10n.t('No run yet. Start one with "Trellis: Generate Repository from Graph…".'))}</p>
<script id="texts" type="application/json" nonce="${nonce}">${JSON.stringify(texts).replaceAll('<', '\\u003c')}</script>`,
    });
  }
}

/** Makes the form of a node of a plan. */
function formHtml(): string {
  const field = (label: string, input: string) => `<label>${escaped(label)}${input}</label>`;
  const area = (id: string, rows: number) =>
    `<textarea id="${id}" rows="${rows}" spellcheck="false"></textarea>`;
  return `<form id="form" hidden aria-label="${escaped(l10n.t('Node'))}">
<p id="form-title"></p>
${field(l10n.t('Name'), '<input id="form-name" spellcheck="false">')}
${field(l10n.t('Signature'), area('form-signature', 2))}
${field(l10n.t('Docstring'), area('form-docstring', 6))}
<fieldset><legend>${escaped(l10n.t('Examples'))}</legend><div id="form-examples"></div></fieldset>
<fieldset><legend>${escaped(l10n.t('Depends on'))}</legend><ul id="form-needs"></ul>
<input id="form-need" list="form-known" aria-label="${escaped(l10n.t('Add a dependency'))}" placeholder="${escaped(l10n.t('Add a dependency'))}">
<datalist id="form-known"></datalist>
<p class="hint">${escaped(l10n.t('Or drag with Shift from a node to the one that it needs.'))}</p></fieldset>
<ul id="form-problems" role="status" aria-label="${escaped(l10n.t('Problems'))}"></ul>
<div class="actions"><button id="form-save" type="submit" class="primary">${escaped(l10n.t('Save'))}</button>
<button type="button" data-remove="node">${escaped(l10n.t('Remove Node'))}</button></div>
</form>`;
}

/** Opens the file of a plan, and the list of its problems. */
async function showProblems(graph: string): Promise<void> {
  await window.showTextDocument(Uri.file(graph), { viewColumn: ViewColumn.Beside });
  await commands.executeCommand('workbench.actions.view.problems');
}
