// The bar of a plan before its run: size, cost, and what can be done with it.
import type { PlanHeader } from '../src/panel/graph_messages';
import { editor, element } from './page';

export class PlanBar {
  private readonly bar = element('plan', HTMLElement);
  private readonly summary = element('summary', HTMLElement);
  private readonly chainButton = element('chain', HTMLButtonElement);
  private readonly problems = element('problems', HTMLButtonElement);
  private readonly generate = element('generate', HTMLButtonElement);
  private plan: PlanHeader | undefined;

  constructor(onChain: () => void) {
    this.generate.addEventListener('click', () => editor.postMessage({ type: 'generate' }));
    this.problems.addEventListener('click', () => editor.postMessage({ type: 'problems' }));
    this.chainButton.addEventListener('click', () => {
      this.chainButton.ariaPressed = String(this.chainButton.ariaPressed !== 'true');
      onChain();
    });
  }

  /** Ids of the longest chain, if the person wants to see it. */
  get chain(): readonly string[] {
    return this.chainButton.ariaPressed === 'true' ? (this.plan?.chain ?? []) : [];
  }

  show(plan: PlanHeader | undefined): void {
    this.plan = plan;
    this.bar.hidden = plan === undefined;
    if (plan === undefined) return;
    this.summary.textContent = plan.summary;
    this.problems.hidden = plan.problems === undefined;
    this.problems.textContent = plan.problems ?? '';
    this.generate.textContent = plan.generate;
    this.generate.disabled = plan.problems !== undefined;
  }
}
