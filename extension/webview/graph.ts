// The page of the planning graph.
import cytoscape, { type Core, type NodeSingular } from 'cytoscape';
import { boxId, drawBoxes, type GraphPicture, type PlacedBox } from '../src/panel/box_layout';
import type { DrawnNode, ToPage } from '../src/panel/graph_messages';
import { Dots } from './dots';
import { elementsOf } from './elements';
import { Labels } from './labels';
import { Legend } from './legend';
import { LinkByDrag } from './link_by_drag';
import { neighbourOf } from './neighbours';
import { NodeForm } from './node_form';
import { OncePerFrame } from './once_per_frame';
import { editor, element, formatted, texts } from './page';
import { PlanBar } from './plan_bar';
import { Search } from './search';
import { graphStyle, palette } from './theme';
import { countsText, nodeText } from './words';

type GraphMessage = Extract<ToPage, { type: 'graph' }>;

/** Graphs with more nodes begin with closed boxes. */
const MANY_NODES = 120;
/** Smallest zoom at which a found node is shown. */
const FOUND_ZOOM = 0.8;
/** Largest zoom of a graph that fits. */
const MAX_FIT_ZOOM = 1.2;
/** Names of this many neighbours are shown in any case. */
const NEIGHBOURS = 30;

const graph = element('graph', HTMLElement);
const announcement = element('said', HTMLElement);
const empty = element('empty', HTMLElement);
const toggleAll = element('toggle', HTMLButtonElement);

const cy: Core = cytoscape({
  container: graph,
  layout: { name: 'preset' },
  minZoom: 0.03,
  maxZoom: 3,
  wheelSensitivity: 2,
  // Enough for every screen, and half the work on those with high resolution.
  pixelRatio: 1,
  textureOnViewport: true,
  hideEdgesOnViewport: true,
  autoungrabify: true,
  boxSelectionEnabled: false,
});
const dots = new Dots(cy);
const labels = new Labels(cy, toggleBox);
const legend = new Legend(element('legend', HTMLElement), applyFilter);
const planBar = new PlanBar(highlight);
const form = new NodeForm(
  () => {
    cy.resize();
    // The form must not cover the node that it is about.
    if (isMoved && chosen !== undefined) cy.stop(true, true).center(cy.getElementById(chosen));
  },
  () => nodes.keys(),
  choose,
);
const search = new Search(
  () => nodes.values(),
  showHit,
  () => graph.focus(),
);
const status = (id: string) => dots.status(id);
let nodes: ReadonlyMap<string, DrawnNode> = new Map();
let picture: GraphPicture = { boxes: [], places: new Map(), links: [] };
let open = new Set<string>();
/** Id of the selected node, or of a selected box. */
let chosen = editor.getState()?.chosen;
let hovered: string | undefined;
let shownRun = '';
let isMoved = false;
/** Whether the nodes can be edited. */
let isEditable = false;
/** Graph that is not drawn yet, and whether the size has changed since the last picture. */
let received: GraphMessage | undefined;
let isResized = false;
/** The layout of a large graph takes longer than a frame. */
const updating = new OncePerFrame(update);

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  if (data.type === 'graph') {
    received = data;
    updating.request();
    return;
  }
  updating.flush();
  if (data.type === 'states') updateStates(data.states);
  else if (data.type === 'select') selectNode(data.id);
  else form.receive(data);
});
new MutationObserver(applyTheme).observe(document.body, { attributeFilter: ['class', 'style'] });
new ResizeObserver(() => {
  isResized = true;
  updating.request();
}).observe(graph);
cy.on('tap', 'node', ({ target }) => {
  const subgraph: unknown = target.data('box');
  if (typeof subgraph === 'string' && !open.has(subgraph)) toggleBox(subgraph);
  else if (typeof subgraph !== 'string') choose(target.id());
});
cy.on('dbltap', 'node', ({ target }) => {
  if (nodes.has(target.id())) editor.postMessage({ type: 'open', id: target.id() });
});
cy.on('mouseover mouseout', 'node', ({ type, target }) => {
  hovered = type === 'mouseover' && nodes.has(target.id()) ? target.id() : undefined;
  showLabels();
});
new LinkByDrag(
  cy,
  (id) => isEditable && nodes.has(id),
  (id, needed) => form.link(needed, id),
);
cy.on('scrollzoom dragpan pinchzoom', () => {
  isMoved = true;
  // The event of the view comes before this one.
  saveView();
});
cy.on('viewport', saveView);
element('fit', HTMLButtonElement).addEventListener('click', fit);
toggleAll.addEventListener('click', () => setOpen(open.size > 0 ? [] : subgraphs()));
graph.addEventListener('keydown', onKeyDown);
graph.addEventListener('focus', selectFirst);
applyTheme();
editor.postMessage({ type: 'ready', chosen });

/** Follows the last graph and the size of the window: nothing is cut off unless the person has moved the picture. */
function update(): void {
  // Taken first: a graph that cannot be shown must not come again at every change of the size.
  const [next, hasOtherSize] = [received, isResized];
  received = undefined;
  isResized = false;
  if (hasOtherSize) cy.resize();
  if (next !== undefined) showGraph(next);
  else if (hasOtherSize && !isMoved) draw();
}

function showGraph({ out, nodes: all, plan }: GraphMessage): void {
  const { out: last, open: wasOpen, ...view } = editor.getState() ?? {};
  const isSame = last === out;
  empty.hidden = all.length > 0;
  nodes = new Map(all.map((it) => [it.id, it]));
  shownRun = out;
  planBar.show(plan);
  isEditable = plan?.isEditable === true;
  if (!isEditable) form.hide();
  else if (chosen !== undefined && nodes.has(chosen)) editor.postMessage({ type: 'selected', id: chosen });
  if (chosen !== undefined && !isKnown(chosen)) chosen = undefined;
  const start = all.length > MANY_NODES ? [] : subgraphs();
  open = new Set(isSame && wasOpen !== undefined ? wasOpen : start);
  dots.setStates(all.map((it) => [it.id, it.status]));
  isMoved = isSame && view.isMoved === true;
  draw();
  if (isMoved && view.zoom !== undefined && view.pan !== undefined)
    cy.viewport({ zoom: view.zoom, pan: { ...view.pan } });
  search.reset();
}

/** Returns whether the graph has a node or a box. */
function isKnown(id: string): boolean {
  return nodes.has(id) || subgraphs().some((it) => boxId(it) === id);
}

function subgraphs(): string[] {
  return [...new Set([...nodes.values()].map((it) => it.subgraph))];
}

/** Draws everything anew; the whole graph is fitted unless the person has moved it. */
function draw(): void {
  picture = drawBoxes([...nodes.values()], open, graph.clientWidth / Math.max(1, graph.clientHeight));
  cy.batch(() => {
    cy.elements().remove();
    cy.add(elementsOf(picture));
  });
  dots.setNodes([...picture.places].map(([id, at]) => ({ id, at })));
  dots.setBars(picture.boxes.filter((it) => !it.isOpen));
  toggleAll.textContent = open.size > 0 ? texts.closeAll : texts.openAll;
  toggleAll.hidden = nodes.size === 0;
  if (!isMoved) fitAll();
  showCounts();
  applyFilter();
  highlight();
}

/** Closes a box, or opens it and shows it as large as it gets. */
function toggleBox(subgraph: string): void {
  const next = new Set(open);
  const isOpened = !next.delete(subgraph);
  if (isOpened) next.add(subgraph);
  setOpen(next);
  if (!isOpened || picture.boxes.length < 2) return;
  isMoved = true;
  cy.fit(cy.getElementById(boxId(subgraph)), 40);
  saveView();
}

/** Opens these boxes alone. A node in a box that closes gives the selection to the box. */
function setOpen(next: Iterable<string>): void {
  open = new Set(next);
  const node = chosen === undefined ? undefined : nodes.get(chosen);
  if (node !== undefined && !open.has(node.subgraph)) chosen = boxId(node.subgraph);
  else if (chosen?.startsWith(boxId(''))) chosen = firstOf(chosen);
  if (chosen === undefined || !nodes.has(chosen)) form.hide();
  isMoved = false;
  draw();
  saveView();
}

/** Returns the first node of a box that was opened, else the box. */
function firstOf(box: string): string {
  const opened = picture.boxes.find((it) => boxId(it.subgraph) === box && open.has(it.subgraph));
  return opened?.ids[0] ?? box;
}

function fit(): void {
  isMoved = false;
  fitAll();
  saveView();
}

/** Fits the whole graph; a small one is not blown up. */
function fitAll(): void {
  cy.fit(undefined, 24);
  if (cy.zoom() <= MAX_FIT_ZOOM) return;
  cy.zoom(MAX_FIT_ZOOM);
  cy.center();
}

function saveView(): void {
  const [zoom, pan] = [cy.zoom(), { ...cy.pan() }];
  editor.setState({ out: shownRun, zoom, pan, isMoved, chosen, open: [...open] });
}

function updateStates(states: readonly (readonly [string, string])[]): void {
  dots.setStates(states);
  showCounts();
  if (legend.isFiltered) applyFilter();
  if (states.some(([id]) => id === chosen)) announce();
}

/** Shows the counts of the boxes and of the legend. */
function showCounts(): void {
  legend.setCounts([...nodes.keys()].flatMap((id) => dots.status(id) ?? []));
  const corner = ({ x, y, width, height }: PlacedBox) => ({ x: x - width / 2, y: y - height / 2 });
  labels.setBoxes(
    picture.boxes.map((it) => ({
      ...it,
      ...corner(it),
      id: it.subgraph,
      text: it.subgraph,
      detail: countsText(it.ids, status),
    })),
  );
}

/** Dims what the legend leaves out. */
function applyFilter(): void {
  const isShown = (id: string) => legend.shows(dots.status(id));
  const boxes = new Map(picture.boxes.map((it) => [boxId(it.subgraph), it.ids.some(isShown)]));
  dots.setFilter(isShown);
  cy.batch(() => {
    for (const it of cy.nodes()) it.toggleClass('dim', !(boxes.get(it.id()) ?? isShown(it.id())));
    for (const it of cy.edges())
      it.toggleClass('dim', it.source().hasClass('dim') || it.target().hasClass('dim'));
  });
  showLabels();
}

/** Selects a node or a box for the person, and tells the extension of a node. */
function choose(id: string): void {
  selectNode(id);
  if (nodes.has(id)) editor.postMessage({ type: 'selected', id });
  else form.hide();
}

/** Selects a node or a box; a closed box with the node is opened. */
function selectNode(id: string, zoom = 0): void {
  const node = nodes.get(id);
  if (node === undefined && cy.getElementById(id).empty()) return;
  chosen = id;
  if (node !== undefined && !open.has(node.subgraph)) {
    open.add(node.subgraph);
    draw();
  }
  highlight();
  goTo(id, zoom);
  saveView();
}

function showHit(id: string | undefined): void {
  if (id === undefined) {
    announcement.textContent = texts.none;
    return;
  }
  selectNode(id, FOUND_ZOOM);
  editor.postMessage({ type: 'selected', id });
}

/** Moves the picture so that something is in sight. */
function goTo(id: string, zoom: number): void {
  const target = cy.getElementById(id);
  const isSeen = isVisible(target) && cy.zoom() >= zoom;
  if (target.empty() || isSeen) return;
  isMoved = true;
  const to = Math.max(cy.zoom(), zoom);
  cy.stop().animate({ zoom: to, center: { eles: target }, duration: 150 });
}

function isVisible(node: NodeSingular): boolean {
  const { x1, x2, y1, y2 } = cy.extent();
  const { x, y } = node.position();
  return x > x1 && x < x2 && y > y1 && y < y2;
}

/** Highlights the selection with its neighbours, and the longest chain, and announces the selection. */
function highlight(): void {
  const visible = (id: string) => {
    const node = nodes.get(id);
    return node === undefined || open.has(node.subgraph) ? id : boxId(node.subgraph);
  };
  const chain = planBar.chain.map(visible);
  cy.batch(() => {
    cy.elements().removeClass('chosen near chain');
    if (chosen !== undefined) {
      const target = cy.getElementById(visible(chosen));
      target.addClass('chosen');
      target.connectedEdges().addClass('near');
    }
    chain.forEach((id, at) => {
      const [node, next] = [cy.getElementById(id), chain[at + 1]];
      node.addClass('chain');
      if (next !== undefined && next !== id) node.edgesTo(cy.getElementById(next)).addClass('chain');
    });
  });
  showLabels();
  announce();
}

/** Shows names: of the selected and the hovered node with their neighbours, then of failed ones, then of all others. */
function showLabels(): void {
  const focus = [chosen, hovered].flatMap((it) => (it !== undefined && picture.places.has(it) ? [it] : []));
  const around = focus.flatMap((id) =>
    cy
      .getElementById(id)
      .neighborhood('node')
      .map((it) => it.id()),
  );
  const sure = [...new Set([...focus, ...around.slice(0, NEIGHBOURS), ...planBar.chain])].filter((it) =>
    picture.places.has(it),
  );
  const isSure = new Set(sure);
  const others = [...picture.places.keys()].filter((it) => !isSure.has(it) && legend.shows(dots.status(it)));
  const isUrgent = (id: string) => Number(dots.status(id) !== 'failed' && dots.status(id) !== 'in_progress');
  others.sort((a, b) => isUrgent(a) - isUrgent(b));
  const label = (id: string) => {
    const { x, y } = picture.places.get(id) ?? { x: 0, y: 0 };
    return { id, text: nodes.get(id)?.name ?? id, x, y };
  };
  labels.setNodes([...sure, ...others].map(label), sure.length);
}

function announce(): void {
  const text = chosen === undefined ? '' : description(chosen);
  // Screen readers read a text again when it is set, even to the same value.
  if (announcement.textContent !== text) announcement.textContent = text;
}

function description(id: string): string {
  const box = picture.boxes.find((it) => boxId(it.subgraph) === id);
  if (box !== undefined) return formatted(texts.box, box.subgraph, countsText(box.ids, status));
  const node = nodes.get(id);
  return node === undefined ? '' : nodeText(node, nodes, status(id));
}

/** Selects the first node or box if nothing is selected. */
function selectFirst(): void {
  updating.flush();
  const [first] = open.size > 0 ? nodes.keys() : picture.boxes.map((it) => boxId(it.subgraph));
  if (chosen === undefined && first !== undefined) selectNode(first);
}

/** Moves the selection: left to a dependency, right to a dependent, else to what is nearest in that direction. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // The selected node may have gone with its graph.
  selectFirst();
  if (chosen === undefined) return;
  const target = cy.getElementById(chosen);
  if (target.empty()) return;
  if (act(event.key, chosen)) event.preventDefault();
  const isOpenBox = (it: NodeSingular) => it.data('box') !== undefined && open.has(it.data('box'));
  const next = neighbourOf(target, event.key, isOpenBox);
  if (next !== undefined) choose(next.id());
  if (event.key.startsWith('Arrow')) event.preventDefault();
}

/** Performs the action of a key; returns whether the key has one. */
function act(key: string, id: string): boolean {
  const box = picture.boxes.find((it) => boxId(it.subgraph) === id);
  const messages: Record<string, 'open' | 'tests' | 'retry'> = { Enter: 'open', t: 'tests', r: 'retry' };
  const type = messages[key];
  if (box !== undefined && (key === 'Enter' || key === ' ')) toggleBox(box.subgraph);
  else if (box === undefined && key === 'Escape') toggleBox(nodes.get(id)?.subgraph ?? '');
  else if (box === undefined && type !== undefined) editor.postMessage({ type, id });
  else return false;
  return true;
}

function applyTheme(): void {
  dots.setPalette(palette());
  cy.style(graphStyle());
}
