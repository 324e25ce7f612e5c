// How long a test waits: every bound of the tests in editors. A wait is for an event; a bound only ends one that is in vain.
import { availableParallelism, loadavg } from 'node:os';

/** By what bounds are stretched at most where nobody says otherwise. */
const MOST = 5;

/** By what all bounds are stretched: TRELLIS_PATIENCE, or else the processes that wait for each processor. */
export const factor = asked(process.env.TRELLIS_PATIENCE) ?? Math.min(MOST, Math.max(1, crowd()));

/** Milliseconds that something may take. */
export const bounds = {
  /** What a person waits for in the page. */
  page: seconds(60),
  /** A graph or a list of tasks, from its first node to its last. */
  growth: seconds(300),
  /** A server's start, to its first answer. */
  server: seconds(60),
  /** A server's end; what is left of it then is killed. */
  farewell: seconds(5),
  /** One test inside the extension host. */
  hostTest: seconds(60),
  /** All tests inside the extension host. */
  hostTests: seconds(300),
  /** A whole sitting before an editor. */
  sitting: seconds(1200),
} as const;

/** Bounds of one look after the other at something that has to be opened anew to show what is new: each is longer. */
export function* looks(): Generator<number> {
  const ends = Date.now() + bounds.page;
  for (let next = seconds(1); Date.now() < ends; next = Math.min(2 * next, seconds(8))) yield next;
}

/** What comes of the work, unless that takes longer than so many milliseconds. */
export async function within<T>(bound: number, what: string, work: Promise<T>): Promise<T> {
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

/** @throws where it is no number from 1 on. */
function asked(value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  if (number >= 1) return number;
  throw new Error(
    `TRELLIS_PATIENCE is ${value}: it has to be a number from 1 on, by which waits are stretched`,
  );
}
