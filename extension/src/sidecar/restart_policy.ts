// Number and delay of restarts after crashes.

const MAX_RESTARTS = 5;
/** Milliseconds in which at most `MAX_RESTARTS` restarts are allowed. */
const WINDOW_MS = 3 * 60 * 1000;

/** Counts crashes, and decides about restarts. */
export class RestartPolicy {
  private crashes: number[] = [];

  /**
   * Records a crash.
   * @param now milliseconds of a monotonic clock
   * @returns milliseconds to wait before the restart: 1, 2, 4, 8, 16 seconds; `undefined` after too many crashes
   */
  nextDelay(now: number): number | undefined {
    this.crashes = this.crashes.filter((it) => now - it < WINDOW_MS);
    if (this.crashes.length >= MAX_RESTARTS) return undefined;
    const delay = 1000 * 2 ** this.crashes.length;
    this.crashes.push(now);
    return delay;
  }

  /** Forgets all crashes, when a person asks for a restart. */
  reset(): void {
    this.crashes = [];
  }
}
