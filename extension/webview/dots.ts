// Statuses of nodes on a separate canvas above the graph: a run changes them many times a second, and drawing names
// and edges anew takes a hundred times as long.
import type { Core, Position } from 'cytoscape';
import { OncePerFrame } from './once_per_frame';

/** Radius of a dot in pixels at zoom 1, and the smallest one. */
const RADIUS = 9;
const MIN_RADIUS = 2.5;
/** Height of the bar in a closed box at zoom 1, and its distance from the edges. */
const BAR = 12;
const BAR_MARGIN = 14;
/** Dots with a smaller radius are drawn as squares, which is fast and looks the same. */
const MIN_SHAPE_RADIUS = 3;

/** Colours by status; nodes with other statuses have no dot. */
export type Palette = Readonly<Record<string, string>>;

/** A closed box. */
export interface Bar extends Position {
  readonly width: number;
  readonly height: number;
  readonly ids: readonly string[];
}

type Shape = (context: CanvasRenderingContext2D, at: Position, radius: number) => void;

/** Shapes by status, which can be distinguished without colours. */
const SHAPES: Readonly<Record<string, Shape>> = {
  passed: circle,
  failed: (context, { x, y }, radius) => {
    context.moveTo(x, y - radius);
    context.lineTo(x + radius, y);
    context.lineTo(x, y + radius);
    context.lineTo(x - radius, y);
  },
  skipped: (context, { x, y }, radius) => {
    const half = radius * 0.65;
    context.rect(x - half, y - half, 2 * half, 2 * half);
  },
  stopped: (context, { x, y }, radius) => {
    const bar = radius * 0.6;
    context.rect(x - radius, y - radius, bar, 2 * radius);
    context.rect(x + radius - bar, y - radius, bar, 2 * radius);
  },
  in_progress: (context, at, radius) => {
    circle(context, at, radius);
    context.moveTo(at.x + radius / 2, at.y);
    context.arc(at.x, at.y, radius / 2, 0, 2 * Math.PI, true);
  },
};

export class Dots {
  private readonly canvas = document.createElement('canvas');
  private readonly states = new Map<string, string>();
  private nodes: readonly { readonly id: string; readonly at: Position }[] = [];
  private bars: readonly Bar[] = [];
  private fits: (id: string) => boolean = () => true;
  private palette: Palette = {};
  private readonly drawing = new OncePerFrame(() => this.draw());

  constructor(private readonly cy: Core) {
    this.canvas.className = 'dots';
    cy.container()?.append(this.canvas);
    cy.on('render resize', () => this.draw());
  }

  /** Replaces the places of all nodes. */
  setNodes(nodes: readonly { readonly id: string; readonly at: Position }[]): void {
    this.nodes = nodes;
    this.drawing.request();
  }

  /** Replaces the closed boxes, each with a bar of the statuses of its nodes. */
  setBars(boxes: readonly Bar[]): void {
    this.bars = boxes;
    this.drawing.request();
  }

  /** Shows the nodes that fit alone. */
  setFilter(fits: (id: string) => boolean): void {
    this.fits = fits;
    this.drawing.request();
  }

  /** Sets the statuses of some nodes; they are drawn with the next frame. */
  setStates(states: readonly (readonly [id: string, status: string])[]): void {
    for (const [id, status] of states) this.states.set(id, status);
    this.drawing.request();
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.drawing.request();
  }

  status(id: string): string | undefined {
    return this.states.get(id);
  }

  private draw(): void {
    const context = this.canvas.getContext('2d');
    if (context === null) throw new Error('this page has no canvas');
    this.clear(context);
    for (const it of this.bars) this.drawBar(context, it);
    const radius = Math.max(MIN_RADIUS, RADIUS * this.cy.zoom());
    for (const [status, places] of this.visibleByStatus(radius)) {
      context.fillStyle = this.palette[status] ?? '';
      for (const at of places) drawDot(context, status, at, radius);
    }
  }

  /** Draws the share of each status at the lower edge of a box. */
  private drawBar(context: CanvasRenderingContext2D, { x, y, width, height, ids }: Bar): void {
    const [zoom, pan] = [this.cy.zoom(), this.cy.pan()];
    const length = (width - 2 * BAR_MARGIN) * zoom;
    const top = (y + height / 2 - BAR_MARGIN - BAR) * zoom + pan.y;
    let left = (x - width / 2 + BAR_MARGIN) * zoom + pan.x;
    for (const [status, colour] of Object.entries(this.palette)) {
      const count = ids.filter((id) => this.states.get(id) === status && this.fits(id)).length;
      const share = (length * count) / Math.max(1, ids.length);
      context.fillStyle = colour;
      context.fillRect(left, top, share, BAR * zoom);
      left += share;
    }
  }

  private clear(context: CanvasRenderingContext2D): void {
    const { canvas } = this;
    const [width, height] = [this.cy.width(), this.cy.height()];
    // Changing the size also clears the canvas.
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    else context.clearRect(0, 0, width, height);
  }

  /** Returns the positions of visible dots on the screen, by status. */
  private visibleByStatus(radius: number): Map<string, Position[]> {
    const [zoom, pan, width, height] = [this.cy.zoom(), this.cy.pan(), this.cy.width(), this.cy.height()];
    const found = new Map<string, Position[]>();
    for (const { id, at } of this.nodes) {
      const status = this.states.get(id);
      if (status === undefined || this.palette[status] === undefined || !this.fits(id)) continue;
      const [x, y] = [at.x * zoom + pan.x, at.y * zoom + pan.y];
      if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
      const known = found.get(status);
      if (known === undefined) found.set(status, [{ x, y }]);
      else known.push({ x, y });
    }
    return found;
  }
}

function drawDot(context: CanvasRenderingContext2D, status: string, at: Position, radius: number): void {
  if (radius < MIN_SHAPE_RADIUS) {
    context.fillRect(at.x - radius, at.y - radius, 2 * radius, 2 * radius);
    return;
  }
  context.beginPath();
  (SHAPES[status] ?? circle)(context, at, radius);
  context.fill();
}

function circle(context: CanvasRenderingContext2D, { x, y }: Position, radius: number): void {
  context.arc(x, y, radius, 0, 2 * Math.PI);
}
