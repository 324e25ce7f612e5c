// Names above the graph, in one size at every zoom: of boxes, of nodes in focus, and of others where there is room.
import type { Core } from 'cytoscape';
import { OncePerFrame } from './once_per_frame';

/** A name at a place of the graph. */
export interface Label {
  readonly id: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** The name of a box; the place is its upper left corner. */
export interface BoxLabel extends Label {
  /** Counts of its nodes. */
  readonly detail: string;
  readonly width: number;
  readonly height: number;
  readonly isOpen: boolean;
}

interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Radius of a node at zoom 1. */
const RADIUS = 10;
/** Height of a name and mean width of a character, in pixels. */
const LINE = 16;
const CHARACTER = 7;
/** Room above and below the lines of a box. */
const BOX_PADDING = 6;
/** Most names of nodes at a time. */
const MOST = 200;
/** Narrower boxes have no name. */
const LEAST_BOX = 36;

export class Labels {
  private readonly layer = document.createElement('div');
  private boxes: readonly BoxLabel[] = [];
  /** Names in the order of their importance. */
  private nodes: readonly Label[] = [];
  /** Number of the first names, which are shown in any case. */
  private sure = 0;
  private readonly drawing = new OncePerFrame(() => this.draw());
  /** Elements by kind and id: a click needs the same element at its begin and end. */
  private readonly elements = new Map<string, HTMLElement>();

  constructor(
    private readonly cy: Core,
    private readonly onToggle: (subgraph: string) => void,
  ) {
    this.layer.className = 'labels';
    this.layer.ariaHidden = 'true';
    cy.container()?.append(this.layer);
    cy.on('viewport resize', () => this.drawing.request());
    // The graph below would take the click as one on the box as well.
    for (const it of ['mousedown', 'touchstart'])
      this.layer.addEventListener(it, (event) => event.stopPropagation());
    this.layer.addEventListener('click', ({ target }) => {
      const box = target instanceof Element ? target.closest<HTMLElement>('[data-box]') : null;
      if (box?.dataset.box !== undefined) this.onToggle(box.dataset.box);
    });
  }

  setBoxes(boxes: readonly BoxLabel[]): void {
    this.boxes = boxes;
    this.drawing.request();
  }

  /** Sets the names of nodes, the most important first; the first `sure` ones need no room. */
  setNodes(nodes: readonly Label[], sure: number): void {
    this.nodes = nodes;
    this.sure = sure;
    this.drawing.request();
  }

  private draw(): void {
    const taken: Rect[] = [];
    const drawn = this.boxes.flatMap((it) => this.box(it, taken));
    for (const [at, it] of this.nodes.entries()) {
      if (drawn.length >= MOST + this.boxes.length) break;
      drawn.push(...this.node(it, at < this.sure, taken));
    }
    const kept = new Set(drawn);
    for (const [key, it] of this.elements) {
      if (kept.has(it)) continue;
      it.remove();
      this.elements.delete(key);
    }
    this.layer.append(...drawn.filter((it) => !it.isConnected));
  }

  /** Returns the element of a name, a new one if it was not shown. */
  private element(kind: 'button' | 'span', id: string): HTMLElement {
    const known = this.elements.get(`${kind} ${id}`);
    if (known !== undefined) return known;
    const made = document.createElement(kind);
    if (made instanceof HTMLButtonElement) Object.assign(made, { type: 'button', tabIndex: -1 });
    this.elements.set(`${kind} ${id}`, made);
    return made;
  }

  private box(it: BoxLabel, taken: Rect[]): HTMLElement[] {
    const { x, y, width, height } = { ...this.onScreen(it), ...this.sizeOnScreen(it) };
    const isOutside = x > this.cy.width() || y > this.cy.height() || x + width < 0 || y + height < 0;
    if (width < LEAST_BOX || isOutside) return [];
    const made = this.element('button', it.id);
    made.className = it.isOpen ? 'box open' : 'box';
    made.dataset.box = it.id;
    made.title = `${it.text} ${it.detail}`;
    const lines = it.isOpen || height < 2 * LINE + BOX_PADDING ? 1 : 2;
    if (made.children.length === 0)
      made.append(...['strong', 'span'].map((tag) => document.createElement(tag)));
    setText(made.firstElementChild, `${it.isOpen ? '▾' : '▸'} ${it.text}`);
    setText(made.lastElementChild, it.isOpen || lines === 2 ? it.detail : '');
    const tall = lines * LINE + BOX_PADDING;
    // The name of an open box lies on its edge, so that it covers no node at any zoom.
    const top = it.isOpen ? y - tall / 2 : y + Math.max(0, height / 2 - tall / 2 - (lines === 2 ? 4 : 0));
    const room = `${Math.max(width - 2, LEAST_BOX)}px`;
    const size = it.isOpen
      ? { left: `${x + 8}px`, maxWidth: room, width: 'fit-content' }
      : { left: `${x}px`, maxWidth: 'none', width: room };
    Object.assign(made.style, { top: `${top}px`, ...size });
    taken.push({ left: x, top, right: x + width, bottom: top + tall });
    return [made];
  }

  private node(it: Label, isSure: boolean, taken: Rect[]): HTMLElement[] {
    const { x, y } = this.onScreen(it);
    const left = x + RADIUS * this.cy.zoom() + 6;
    const right = left + it.text.length * CHARACTER + 4;
    const rect = { left, top: y - LINE / 2, right, bottom: y + LINE / 2 };
    if (right < 0 || left > this.cy.width() || rect.bottom < 0 || rect.top > this.cy.height()) return [];
    if (taken.some((other) => overlaps(rect, other)) && !isSure) return [];
    taken.push(rect);
    const made = this.element('span', it.id);
    made.className = isSure ? 'name sure' : 'name';
    made.textContent = it.text;
    Object.assign(made.style, { left: `${left}px`, top: `${rect.top}px` });
    return [made];
  }

  private onScreen({ x, y }: { readonly x: number; readonly y: number }) {
    const [zoom, pan] = [this.cy.zoom(), this.cy.pan()];
    return { x: x * zoom + pan.x, y: y * zoom + pan.y };
  }

  private sizeOnScreen({ width, height }: { readonly width: number; readonly height: number }) {
    const zoom = this.cy.zoom();
    return { width: width * zoom, height: height * zoom };
  }
}

function overlaps(a: Rect, b: Rect): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function setText(element: Element | null, text: string): void {
  if (element !== null && element.textContent !== text) element.textContent = text;
}
