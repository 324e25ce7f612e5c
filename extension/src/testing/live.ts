// Outcomes of a run of tests while it goes on: which are shown at once, and which are left for the end.
import type { Event as TrellisEvent } from '../protocol';
import { type Outcome, ofEvent } from './outcomes';

/** One run, as the events of its job tell it. */
export class Live {
  private readonly settled = new Set<string>();
  private readonly failed = new Map<string, Outcome>();

  /** @param say hears each line that tells what is being done */
  constructor(private readonly say: (line: string) => void = () => {}) {}

  /** Gives what is to be shown at once. What failed is shown when its place is known. */
  hear(event: TrellisEvent): Outcome | undefined {
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
}
