// The page of the planning graph.
import cytoscape, { type Core, type NodeCollection, type NodeSingular } from 'cytoscape';
import type { DrawnNode, FromPage, PlanHeader, ToPage } from '../src/panel/graph_messages';
import { Dots } from './dots';

interface Editor {
  postMessage(message: FromPage): void;
  setState(state: View): void;
  getState(): Partial<View> | undefined;
}

/** State of the page: a hidden page is discarded, and restored from its state. */
interface View {
  /** Output folder of the run. */
  readonly out: string;
  readonly zoom: number;
  readonly pan: { readonly x: number; readonly y: number };
  readonly chosen: string | undefined;
}
declare function acquireVsCodeApi(): Editor;

interface Texts {
  readonly states: Record<string, string>;
  readonly needs: string;
  readonly node: string;
  readonly none: string;
}

const editor = acquireVsCodeApi();
const graph = element('graph', HTMLElement);
const find = element('find', HTMLInputElement);
const names = element('names', HTMLDataListElement);
const announcement = element('said', HTMLElement);
const empty = element('empty', HTMLElement);
const plan = {
  bar: element('plan', HTMLElement),
  summary: element('summary', HTMLElement),
  chain: element('chain', HTMLButtonElement),
  problems: element('problems', HTMLButtonElement),
  generate: element('generate', HTMLButtonElement),
};
const texts: Texts = JSON.parse(element('texts', HTMLElement).textContent);

const cy: Core = cytoscape({
  container: graph,
  layout: { name: 'preset' },
  minZoom: 0.05,
  maxZoom: 3,
  // Enough for every screen, and half the work on those with high resolution.
  pixelRatio: 1,
  textureOnViewport: true,
  hideEdgesOnViewport: true,
  autoungrabify: true,
  boxSelectionEnabled: false,
});
const dots = new Dots(cy);
let chosen = editor.getState()?.chosen;
let shownRun = '';

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  if (data.type === 'graph') drawGraph(data);
  else if (data.type === 'states') updateStates(data.states);
  else selectNode(data.id);
});
new MutationObserver(applyTheme).observe(document.body, { attributeFilter: ['class', 'style'] });
cy.on('tap', 'node', ({ target }) => {
  selectNode(target.id());
  editor.postMessage({ type: 'selected', id: target.id() });
});
cy.on('viewport', saveView);
cy.on('dbltap', 'node', ({ target }) => editor.postMessage({ type: 'open', id: target.id() }));
element('fit', HTMLButtonElement).addEventListener('click', () => cy.fit(undefined, 30));
plan.generate.addEventListener('click', () => editor.postMessage({ type: 'generate' }));
plan.problems.addEventListener('click', () => editor.postMessage({ type: 'problems' }));
graph.addEventListener('keydown', onKeyDown);
graph.addEventListener('focus', () => {
  if (chosen === undefined)
    cy.nodes()
      .first()
      .forEach((it) => {
        selectNode(it.id());
      });
});
find.addEventListener('change', () => {
  const wanted = find.value.trim().toLowerCase();
  const found = cy.nodes().filter((it) => [it.id(), name(it)].some((text) => text.toLowerCase() === wanted));
  const near = found.nonempty() ? found : cy.nodes().filter((it) => name(it).toLowerCase().includes(wanted));
  if (wanted === '') return;
  if (near.empty()) announcement.textContent = texts.none;
  else selectNode(near.first().id());
});
applyTheme();
editor.postMessage({ type: 'ready', chosen });

function drawGraph({ out, nodes, edges, plan: header }: Extract<ToPage, { type: 'graph' }>): void {
  showPlan(header);
  empty.hidden = nodes.length > 0;
  cy.batch(() => {
    cy.elements().remove();
    cy.add(
      nodes.map(({ x, y, status: _, ...data }: DrawnNode) => ({
        group: 'nodes' as const,
        data,
        position: { x, y },
      })),
    );
    cy.add(edges.map(({ from, to }) => ({ group: 'edges' as const, data: { source: from, target: to } })));
  });
  dots.setNodes(nodes);
  names.replaceChildren(...nodes.map((it) => new Option(it.name)));
  restoreView(out);
  if (chosen !== undefined) highlight(cy.getElementById(chosen));
}

/** Shows size and cost of a plan before its run, and what can be done with it. */
function showPlan(header: PlanHeader | undefined): void {
  plan.bar.hidden = header === undefined;
  if (header === undefined) return;
  plan.summary.textContent = header.summary;
  plan.problems.hidden = header.problems === undefined;
  plan.problems.textContent = header.problems ?? '';
  plan.generate.textContent = header.generate;
  plan.generate.disabled = header.problems !== undefined;
}

/** Restores the viewport of the run, else fits the whole graph. */
function restoreView(out: string): void {
  const { out: last, zoom, pan } = editor.getState() ?? {};
  shownRun = out;
  if (last === out && zoom !== undefined && pan !== undefined) cy.viewport({ zoom, pan: { ...pan } });
  else cy.fit(undefined, 30);
}

function saveView(): void {
  editor.setState({ out: shownRun, zoom: cy.zoom(), pan: { ...cy.pan() }, chosen });
}

function updateStates(states: readonly (readonly [string, string])[]): void {
  dots.setStates(states);
  for (const [id] of states) if (id === chosen) cy.getElementById(id).forEach(announce);
}

function selectNode(id: string): void {
  const node = cy.getElementById(id);
  if (node.empty()) return;
  chosen = id;
  highlight(node);
  saveView();
  if (!isVisible(node)) cy.animate({ center: { eles: node }, duration: 150 });
}

/** Highlights the selected node, and announces it. */
function highlight(nodes: NodeCollection): void {
  cy.batch(() => {
    cy.elements().removeClass('chosen near');
    nodes.addClass('chosen');
    nodes.neighborhood().addClass('near');
  });
  nodes.forEach(announce);
}

function isVisible(node: NodeSingular): boolean {
  const { x1, x2, y1, y2 } = cy.extent();
  const { x, y } = node.position();
  return x > x1 && x < x2 && y > y1 && y < y2;
}

function announce(node: NodeSingular): void {
  const [before, after] = [node.incomers('node').length, node.outgoers('node').length];
  const around = formatted(texts.needs, String(before), String(after));
  const state = texts.states[dots.status(node.id()) ?? ''] ?? '';
  const text = formatted(texts.node, name(node), state, String(node.data('subgraph')), around);
  // Screen readers read a text again when it is set, even to the same value.
  if (announcement.textContent !== text) announcement.textContent = text;
}

function formatted(text: string, ...values: string[]): string {
  return text.replaceAll(/\{(\d)\}/g, (whole, index: string) => values[Number(index)] ?? whole);
}

/** Moves the selection: left to a dependency, right to a dependent, up and down in the layer. */
function onKeyDown(event: KeyboardEvent): void {
  const node = cy.nodes().filter((it) => it.id() === chosen)[0];
  if (node === undefined) return;
  const id = node.id();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const messages: Record<string, 'open' | 'tests' | 'retry'> = { Enter: 'open', t: 'tests', r: 'retry' };
  const type = messages[event.key];
  if (type !== undefined) editor.postMessage({ type, id });
  const next = neighborOf(node, event.key);
  if (next !== undefined) {
    selectNode(next.id());
    editor.postMessage({ type: 'selected', id: next.id() });
  }
  if (type !== undefined || event.key.startsWith('Arrow')) event.preventDefault();
}

function neighborOf(node: NodeSingular, key: string): NodeSingular | undefined {
  const { y } = node.position();
  const level = cy
    .nodes()
    .toArray()
    .filter((it) => it.data('layer') === node.data('layer'));
  const far = (it: NodeSingular) => Math.abs(it.position('y') - y);
  const nearest = (all: NodeSingular[]) => all.sort((a, b) => far(a) - far(b))[0];
  switch (key) {
    case 'ArrowLeft':
      return nearest(node.incomers().nodes().toArray());
    case 'ArrowRight':
      return nearest(node.outgoers().nodes().toArray());
    case 'ArrowUp':
      return nearest(level.filter((it) => it.position('y') < y));
    case 'ArrowDown':
      return nearest(level.filter((it) => it.position('y') > y));
    default:
      return undefined;
  }
}

/** Applies the colours of the editor's theme, which may change at any time. */
function applyTheme(): void {
  const theme = getComputedStyle(document.body);
  const of = (variable: string, otherwise: string) =>
    theme.getPropertyValue(`--vscode-${variable}`).trim() || otherwise;
  const text = of('foreground', '#888888');
  const ground = of('editor-background', '#ffffff');
  dots.setPalette({
    passed: of('testing-iconPassed', '#388a34'),
    failed: of('testing-iconFailed', '#c72e0f'),
    skipped: of('testing-iconSkipped', '#848484'),
    stopped: of('testing-iconSkipped', '#848484'),
    in_progress: of('charts-blue', '#3794ff'),
  });
  cy.style([
    {
      selector: 'node',
      style: {
        width: 20,
        height: 20,
        label: 'data(name)',
        color: text,
        'font-size': 12,
        'text-valign': 'center',
        'text-halign': 'right',
        'text-margin-x': 5,
        'min-zoomed-font-size': 7,
        'text-background-color': ground,
        'text-background-opacity': 0.75,
        'background-color': ground,
        'border-width': 1.5,
        'border-color': text,
      },
    },
    {
      selector: 'edge',
      style: {
        width: 1,
        opacity: 0.35,
        'line-color': text,
        'curve-style': 'haystack',
      },
    },
    { selector: 'edge.near', style: { width: 2, opacity: 1, 'line-color': of('focusBorder', text) } },
    {
      selector: 'node.chosen',
      style: {
        'border-width': 5,
        'border-color': of('focusBorder', text),
        'font-weight': 'bold',
        'z-index': 9,
      },
    },
  ]);
}

function name(node: NodeSingular): string {
  return String(node.data('name'));
}

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
}
