// Time limits of the tests in editors. Every wait is for an event; a limit only ends one in vain.
import { availableParallelism, loadavg } from 'node:os';

/** Maximal factor of the limits, unless TRELLIS_PATIENCE is set. */
const MOST = 5;

/** Factor of the limits: TRELLIS_PATIENCE, or else the load per processor. */
export const factor = asked(process.env.TRELLIS_PATIENCE) ?? Math.min(MOST, Math.max(1, crowd()));

/** Limits in milliseconds. */
export const limits = {
  /** Events in the page. */
  page: seconds(60),
  /** A graph or a task list, from the first node to the last. */
  generation: seconds(300),
  /** Start of a server, to its first answer. */
  server: seconds(60),
  /** End of a server; it is killed then. */
  shutdown: seconds(5),
  /** A test inside the extension host. */
  hostTest: seconds(60),
  /** All tests inside the extension host. */
  hostTests: seconds(300),
  /** A whole session with an editor. */
  session: seconds(1200),
} as const;

/** Makes the limits of repeated attempts to open something that shows news only when it is opened; each is longer. */
export function* retryLimits(): Generator<number> {
  const ends = Date.now() + limits.page;
  for (let next = seconds(1); Date.now() < ends; next = Math.min(2 * next, seconds(8))) yield next;
}

/** Resolves as the work does; rejects after the limit. */
export async function withLimit<T>(bound: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${what} did not come within ${bound / 1000} s`);
    timer = setTimeout(() => reject(error), bound);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function seconds(count: number): number {
  return Math.round(count * 1000 * factor);
}

function crowd(): number {
  return (loadavg()[0] ?? 0) / availableParallelism();
}

/** @throws if it is no number from 1 on */
function asked(value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  if (number >= 1) return number;
  throw new Error(
    `TRELLIS_PATIENCE is ${value}: it has to be a number from 1 on, by which waits are stretched`,
  );
}
