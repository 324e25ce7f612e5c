// The states of nodes, on a canvas of their own above the picture: a run changes them many times a second, and drawing
// names and edges anew for each change takes a hundred times as long as drawing these.
import type { Core, Position } from 'cytoscape';

/** Pixels of the picture at its natural size from the middle of a dot to its edge. */
const RADIUS = 9;
/** Dots of fewer pixels are squares: nobody sees the difference, and they are drawn in no time. */
const COARSE = 3;

/** Colours of states; nodes that stand in others keep the ground. */
export type Palette = Readonly<Record<string, string>>;

type Shape = (context: CanvasRenderingContext2D, at: Position, radius: number) => void;

/** So that states can be told from each other without their colours. */
const shapes: Readonly<Record<string, Shape>> = {
  passed: round,
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
    round(context, at, radius);
    context.moveTo(at.x + radius / 2, at.y);
    context.arc(at.x, at.y, radius / 2, 0, 2 * Math.PI, true);
  },
};

export class Dots {
  private readonly canvas = document.createElement('canvas');
  private readonly states = new Map<string, string>();
  private places: readonly { readonly id: string; readonly at: Position }[] = [];
  private palette: Palette = {};
  private isPlanned = false;

  constructor(private readonly cy: Core) {
    this.canvas.className = 'dots';
    cy.container()?.append(this.canvas);
    cy.on('render resize', () => this.draw());
  }

  /** Takes these nodes in place of those before. */
  place(
    nodes: readonly {
      readonly id: string;
      readonly status: string;
      readonly x: number;
      readonly y: number;
    }[],
  ) {
    this.states.clear();
    for (const { id, status } of nodes) this.states.set(id, status);
    this.places = nodes.map(({ id, x, y }) => ({ id, at: { x, y } }));
    this.plan();
  }

  /** Takes the states of some nodes; they are to be seen with the next frame. */
  show(states: readonly (readonly [id: string, status: string])[]): void {
    for (const [id, status] of states) this.states.set(id, status);
    this.plan();
  }

  paint(palette: Palette): void {
    this.palette = palette;
    this.plan();
  }

  status(id: string): string | undefined {
    return this.states.get(id);
  }

  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.isPlanned = false;
    const context = this.canvas.getContext('2d');
    if (context === null) throw new Error('this page has no canvas');
    this.clear(context);
    const radius = RADIUS * this.cy.zoom();
    for (const [status, places] of this.inSight(radius)) {
      context.fillStyle = this.palette[status] ?? '';
      for (const at of places) dot(context, status, at, radius);
    }
  }

  private clear(context: CanvasRenderingContext2D): void {
    const { canvas } = this;
    const [width, height] = [this.cy.width(), this.cy.height()];
    // To change its size clears it, too.
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    else context.clearRect(0, 0, width, height);
  }

  /** Pixels on the screen of the nodes that have a state to show, by state. */
  private inSight(radius: number): Map<string, Position[]> {
    const [zoom, pan, width, height] = [this.cy.zoom(), this.cy.pan(), this.cy.width(), this.cy.height()];
    const found = new Map<string, Position[]>();
    for (const { id, at } of this.places) {
      const status = this.states.get(id);
      if (status === undefined || this.palette[status] === undefined) continue;
      const [x, y] = [at.x * zoom + pan.x, at.y * zoom + pan.y];
      if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
      const known = found.get(status);
      if (known === undefined) found.set(status, [{ x, y }]);
      else known.push({ x, y });
    }
    return found;
  }
}

function dot(context: CanvasRenderingContext2D, status: string, at: Position, radius: number): void {
  if (radius < COARSE) {
    context.fillRect(at.x - radius, at.y - radius, 2 * radius, 2 * radius);
    return;
  }
  context.beginPath();
  (shapes[status] ?? round)(context, at, radius);
  context.fill();
}

function round(context: CanvasRenderingContext2D, { x, y }: Position, radius: number): void {
  context.arc(x, y, radius, 0, 2 * Math.PI);
}
