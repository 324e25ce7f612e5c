// Search for nodes by name or id.

export interface NamedNode {
  readonly id: string;
  readonly name: string;
}

/** Returns the ids of the nodes that fit, the best first: the whole name, then its beginning, then a part of it. */
export function findNodes(nodes: readonly NamedNode[], text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const ranked = nodes.flatMap(({ id, name }) => {
    const texts = [name.toLowerCase(), id.toLowerCase()];
    const rank = RANKS.findIndex((fits) => texts.some((it) => fits(it, wanted)));
    return rank < 0 ? [] : [{ id, rank }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map((it) => it.id);
}

const RANKS: readonly ((text: string, wanted: string) => boolean)[] = [
  (text, wanted) => text === wanted,
  (text, wanted) => text.startsWith(wanted),
  (text, wanted) => text.includes(wanted),
];
