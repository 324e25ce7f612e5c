// A picture as elements of cytoscape.
import type { ElementDefinition } from 'cytoscape';
import { boxId, type GraphPicture } from '../src/panel/box_layout';

/** Makes boxes, nodes and edges; an edge is the wider, the more edges of the plan it stands for. */
export function elementsOf({ boxes, places, links }: GraphPicture): ElementDefinition[] {
  const drawn = boxes.map(({ subgraph, x, y, width, height }): ElementDefinition => {
    const data = { id: boxId(subgraph), box: subgraph, width, height };
    return { group: 'nodes', data, classes: 'box', position: { x, y } };
  });
  const nodes = [...places].map(([id, at]): ElementDefinition => {
    return { group: 'nodes', data: { id }, position: { ...at } };
  });
  const edges = links.map(({ from, to, count }): ElementDefinition => {
    const data = { source: from, target: to, width: 1 + Math.min(5, Math.log2(count)) };
    return { group: 'edges', data };
  });
  return [...drawn, ...nodes, ...edges];
}
