// The search: typing goes to the first hit, Enter to the next one, Escape leaves.
import { findNodes, type NamedNode } from '../src/panel/node_search';
import { element, formatted, texts } from './page';

export class Search {
  private readonly input = element('find', HTMLInputElement);
  private readonly place = element('found', HTMLElement);
  private hits: readonly string[] = [];
  /** Place of the shown hit. */
  private at = 0;

  /**
   * @param onHit called with the id of a hit, or `undefined` if nothing fits
   * @param onLeave called when the person leaves the search
   */
  constructor(
    private readonly nodes: () => Iterable<NamedNode>,
    private readonly onHit: (id: string | undefined) => void,
    onLeave: () => void,
  ) {
    this.input.addEventListener('input', () => this.show(0));
    this.input.addEventListener('keydown', ({ key, shiftKey }) => {
      if (key === 'Enter') this.show(this.at + (shiftKey ? -1 : 1));
      if (key !== 'Escape') return;
      this.input.value = '';
      this.show(0);
      onLeave();
    });
  }

  /** Forgets the hits, since the nodes are others. */
  reset(): void {
    this.hits = [];
    this.at = 0;
    this.place.textContent = '';
  }

  private show(next: number): void {
    const all = findNodes([...this.nodes()], this.input.value);
    const isSame = all.join('\n') === this.hits.join('\n');
    this.hits = all;
    this.at = all.length === 0 || !isSame ? 0 : (next + all.length) % all.length;
    const id = all[this.at];
    this.place.textContent = id === undefined ? '' : formatted(texts.found, this.at + 1, all.length);
    if (this.input.value.trim() !== '') this.onHit(id);
  }
}
