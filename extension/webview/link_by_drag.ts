// A dependency by mouse: dragged with Shift from a node to the one that it needs.
import type { Core, NodeSingular } from 'cytoscape';

export class LinkByDrag {
  private from: NodeSingular | undefined;

  /**
   * @param isNode returns whether an element is a node that can be edited
   * @param onLink called with the ids of a node and of the one that it needs
   */
  constructor(
    private readonly cy: Core,
    private readonly isNode: (id: string) => boolean,
    private readonly onLink: (id: string, needed: string) => void,
  ) {
    cy.on('tapstart', 'node', ({ target, originalEvent }) => {
      if (originalEvent.shiftKey && isNode(target.id())) this.begin(target);
    });
    cy.on('tapdragover', 'node', ({ target }) => {
      if (this.isTarget(target)) target.addClass('chain');
    });
    cy.on('tapdragout', 'node', ({ target }) => {
      if (this.isTarget(target)) target.removeClass('chain');
    });
    cy.on('tapend', ({ target }) => this.end(target));
  }

  private begin(node: NodeSingular): void {
    this.from = node;
    node.addClass('chain');
    this.cy.userPanningEnabled(false);
  }

  private end(target: NodeSingular | Core): void {
    const { from } = this;
    if (from === undefined) return;
    this.from = undefined;
    this.cy.userPanningEnabled(true);
    this.cy.nodes('.chain').removeClass('chain');
    if (target !== this.cy && 'id' in target && this.isNode(target.id()) && target.id() !== from.id())
      this.onLink(from.id(), target.id());
  }

  private isTarget(node: NodeSingular): boolean {
    return this.from !== undefined && node.id() !== this.from.id() && this.isNode(node.id());
  }
}
