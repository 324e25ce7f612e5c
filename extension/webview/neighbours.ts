// Moves by arrow keys: along edges, else to what is nearest in the direction.
import type { NodeSingular } from 'cytoscape';

type Direction = readonly [x: number, y: number];
const DIRECTIONS: Readonly<Record<string, Direction>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns where an arrow key leads; `undefined` for other keys, and at the edge. */
export function neighbourOf(
  node: NodeSingular,
  key: string,
  isPassedOver: (it: NodeSingular) => boolean,
): NodeSingular | undefined {
  const direction = DIRECTIONS[key];
  if (direction === undefined) return undefined;
  const near = (all: NodeSingular[]) => all.sort((a, b) => far(node, a) - far(node, b))[0];
  const linked = { ArrowLeft: node.incomers('node'), ArrowRight: node.outgoers('node') }[key];
  const byEdge = linked === undefined ? undefined : near(linked.toArray().filter(isNode));
  return byEdge ?? nearestIn(node, direction, isPassedOver);
}

function isNode(it: { isNode(): boolean }): it is NodeSingular {
  return it.isNode();
}

function far(from: NodeSingular, to: NodeSingular): number {
  const [a, b] = [from.position(), to.position()];
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Returns what is nearest in a direction; steps to the side count double. */
function nearestIn(
  node: NodeSingular,
  [dx, dy]: Direction,
  isPassedOver: (it: NodeSingular) => boolean,
): NodeSingular | undefined {
  const from = node.position();
  const candidates = node
    .cy()
    .nodes()
    .toArray()
    .filter((it) => it.id() !== node.id() && !isPassedOver(it))
    .flatMap((it) => {
      const { x, y } = it.position();
      const along = (x - from.x) * dx + (y - from.y) * dy;
      const aside = Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
      return along > 1 ? [{ it, cost: along + 2 * aside }] : [];
    });
  return candidates.sort((a, b) => a.cost - b.cost)[0]?.it;
}
