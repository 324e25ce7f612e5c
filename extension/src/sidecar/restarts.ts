// How often, and after how long, a sidecar that crashed is started anew.

const MOST = 5;
/** Milliseconds in which so many restarts are too many. */
const SPAN = 3 * 60 * 1000;

/** Counts crashes. */
export class Restarts {
  private crashes: number[] = [];

  /**
   * Notes a crash.
   * @param now milliseconds of any clock that does not go back
   * @returns milliseconds to wait before the restart: 1, 2, 4, 8, 16 seconds; nothing when it is given up.
   */
  next(now: number): number | undefined {
    this.crashes = this.crashes.filter((it) => now - it < SPAN);
    if (this.crashes.length >= MOST) return undefined;
    const delay = 1000 * 2 ** this.crashes.length;
    this.crashes.push(now);
    return delay;
  }

  /** A person wants it started: nothing counts any more. */
  forget(): void {
    this.crashes = [];
  }
}
