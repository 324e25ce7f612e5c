// What is told of a run of tests while it goes on: which job it is, and what of it is still to be shown in the end.
import type { Event as TrellisEvent } from '../protocol';
import { Claim } from '../sidecar/claim';
import { type Outcome, ofEvent } from './outcomes';

/** To be made right before the run is asked for. */
export class Live {
  private readonly claim = new Claim('runTests');
  private readonly settled = new Set<string>();
  private readonly failed = new Map<string, Outcome>();

  /** @param say hears each line that tells what is being done */
  constructor(private readonly say: (line: string) => void = () => {}) {}

  /** Gives what is to be shown at once. What failed is shown when its place is known. */
  hear(event: TrellisEvent): Outcome | undefined {
    if (!this.claim.owns(event)) return undefined;
    if (event.type === 'log') this.say(event.message.trim());
    if (event.type !== 'test') return undefined;
    const outcome = ofEvent(event);
    if (outcome.mark === 'failed') {
      this.failed.set(outcome.id, outcome);
      return undefined;
    }
    this.failed.delete(outcome.id);
    this.settled.add(outcome.id);
    return outcome;
  }

  /**
   * What is left to be shown.
   * @param results what the run came to; none where nobody will ever say
   */
  rest(results: readonly Outcome[]): readonly Outcome[] {
    const known = new Set(results.map((it) => it.id));
    const told = [...this.failed.values()].filter((it) => !known.has(it.id));
    return [...results.filter((it) => !this.settled.has(it.id)), ...told];
  }

  /** Nobody waits for it any more. */
  dispose(): void {
    this.claim.dispose();
  }
}
