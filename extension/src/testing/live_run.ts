// Outcomes of a test run in progress: some are shown at once, the others at the end.
import type { Event as TrellisEvent } from '../protocol';
import { type Outcome, outcomeOfEvent } from './outcomes';

/** A test run, followed by the events of its job. */
export class LiveRun {
  private readonly shown = new Set<string>();
  private readonly failed = new Map<string, Outcome>();

  /** @param log receives each line of the log */
  constructor(private readonly log: (line: string) => void = () => {}) {}

  /** Returns an outcome that is shown at once. Failures are shown at the end, when their location is known. */
  handleEvent(event: TrellisEvent): Outcome | undefined {
    if (event.type === 'log') this.log(event.message.trim());
    if (event.type !== 'test') return undefined;
    const outcome = outcomeOfEvent(event);
    if (outcome.mark === 'failed') {
      this.failed.set(outcome.id, outcome);
      return undefined;
    }
    this.failed.delete(outcome.id);
    this.shown.add(outcome.id);
    return outcome;
  }

  /**
   * Returns the outcomes that are not shown yet.
   * @param results of the run; none if it broke off
   */
  remaining(results: readonly Outcome[]): readonly Outcome[] {
    const known = new Set(results.map((it) => it.id));
    const unreported = [...this.failed.values()].filter((it) => !known.has(it.id));
    return [...results.filter((it) => !this.shown.has(it.id)), ...unreported];
  }
}
