// What tests came to, whoever ran them: a value, made of events and results.
import type {
  FailureShape,
  ForeignTest,
  Generated,
  RunTestsResult,
  TestFailure,
  TestShape,
  Event as TrellisEvent,
} from '../protocol';

export type Mark = 'passed' | 'failed' | 'skipped';

/** One test, as far as anybody said. */
export interface Outcome {
  /** The folder of its project, absolute. */
  readonly root: string;
  /** Relative to that folder: file, classes, name, parameters. */
  readonly id: string;
  readonly mark: Mark;
  /** In the sidecar's word, such as `xFailed`. */
  readonly word: string;
  readonly durationMs: number;
  /** The file that defines it, relative to the root. */
  readonly path?: string;
  /** The line of its definition, from 1. */
  readonly line?: number;
  readonly failure?: Failure;
  /** Why it was skipped or expected to fail. */
  readonly reason?: string;
  /** What it printed. */
  readonly printed?: string;
  /** When the texts were read that it ran with, in milliseconds since 1970, where that is told. */
  readonly textOf?: number;
}

export interface Failure {
  readonly message: string;
  /** Both sides of the comparison that failed. */
  readonly expected?: string;
  readonly actual?: string;
  /** The failing place; the path is relative to the root, the line counted from 1. */
  readonly path?: string;
  readonly line?: number;
  readonly traceback?: string;
}

/** Of a test's event: its failure in short, which the result of the run says whole later. */
export function ofEvent(event: Extract<TrellisEvent, { type: 'test' }>): Outcome {
  const { root, id, outcome, durationMs, path, line } = event;
  return {
    root,
    id,
    ...marked(outcome),
    durationMs,
    ...some('path', path),
    ...some('line', line),
    ...some('textOf', event.textOf),
    ...inShort(event),
  };
}

/** Of tests that another window or the command line has run. */
export function ofResults({ root, tests }: Extract<TrellisEvent, { type: 'results' }>): readonly Outcome[] {
  return tests.map((it) => ({
    root,
    id: it.id,
    ...marked(it.outcome),
    durationMs: 0,
    textOf: it.textOf,
    ...inShort(it),
  }));
}

function inShort(told: Pick<ForeignTest, 'message' | 'failedPath' | 'failedLine'>): { failure?: Failure } {
  const { message, failedPath, failedLine } = told;
  return message ? { failure: { message, ...some('path', failedPath), ...some('line', failedLine) } } : {};
}

/** Of a run's result: each test, with all that is known. */
export function ofResult(result: RunTestsResult): readonly Outcome[] {
  return result.tests.map((it) => ofTest(result.root, it));
}

/** Outcomes of sessions that came to their end. */
const ENDED: readonly string[] = ['passed', 'failed', 'noTests', 'collectionError'];

/** Ids of all tests of each file that a run of a whole project met; none where it does not tell of all of them. */
export function allOf(result: RunTestsResult): ReadonlySet<string> | undefined {
  return ENDED.includes(result.outcome) ? foundBy(result) : undefined;
}

/** The same by a session that only looked for them. */
export function foundBy(result: RunTestsResult): ReadonlySet<string> | undefined {
  const { tests, notRun, deselected, parsingFailed } = result;
  return parsingFailed ? undefined : new Set([...tests.map((it) => it.id), ...notRun, ...deselected]);
}

/** What could not be collected. */
export interface Broken {
  /** The file or folder of tests, else the ids that were asked for; empty where it is about the whole project. */
  readonly id: string;
  readonly failure: Failure;
}

/**
 * Tells of each file and test that could not be collected.
 * @param named ids that were asked for; none where it was the whole project
 */
export function brokenIn(result: RunTestsResult, named: readonly string[]): readonly Broken[] {
  return result.collectionErrors.flatMap((shape) => {
    const failure = failureOf(shape);
    const ids = [collecting(shape) ?? failure.path ?? namedIn(failure.message, named)].flat();
    return ids.map((id) => ({ id, failure }));
  });
}

/** The file that was being collected, where the sidecar says so: the failing place may be in what it imports. */
function collecting(shape: FailureShape & { collecting?: string | null }): string | undefined {
  return shape.collecting ?? undefined;
}

/** Those that a message such as `not found: /p/a.py::t` names, else all that were asked for. */
function namedIn(message: string, named: readonly string[]): readonly string[] {
  const lines = message.split('\n');
  const those = named.filter((id) => lines.some((it) => it.endsWith(`/${id}`) || it.endsWith(` ${id}`)));
  if (those.length > 0) return those;
  return named.length > 0 ? named : [''];
}

/** Of tests that were written and run at once. */
export function ofGenerated({ root, path, tests }: Generated): readonly Outcome[] {
  return tests.map((it) => ended(root, path, it));
}

function ofTest(root: string, test: TestShape): Outcome {
  const printed = [test.stdout, test.stderr].filter((it) => it !== '').join('\n');
  return {
    ...ended(root, test.path, test),
    ...some('reason', test.reason),
    ...(printed === '' ? {} : { printed }),
  };
}

/** What is said of every test that has ended. */
type Ended = Pick<TestShape, 'id' | 'outcome' | 'durationMs' | 'line' | 'failure'>;

function ended(root: string, path: string, { id, outcome, durationMs, line, failure }: Ended): Outcome {
  return {
    root,
    id,
    ...marked(outcome),
    durationMs,
    path,
    ...some('line', line),
    ...(failure ? { failure: failureOf(failure) } : {}),
  };
}

/** A failure as the wire has it. */
export function failureOf(shape: FailureShape | TestFailure): Failure {
  const { exception, message, path, line, traceback } = shape;
  const comparison = 'comparison' in shape ? shape.comparison : undefined;
  const said = [exception, message].filter((it) => it !== '').join(': ');
  const sides = comparison ? { expected: comparison.expected, actual: comparison.actual } : {};
  return {
    message: said,
    ...sides,
    ...some('path', path),
    ...some('line', line),
    ...some('traceback', traceback),
  };
}

/** The others mean that something is wrong. */
const MARKS: Record<string, Mark> = {
  passed: 'passed',
  xPassed: 'passed',
  skipped: 'skipped',
  xFailed: 'skipped',
};

function marked(word: string): { mark: Mark; word: string } {
  return { mark: MARKS[word] ?? 'failed', word };
}

function some<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  const found: { [P in K]?: V } = {};
  if (value !== null && value !== undefined && value !== '') found[key] = value;
  return found;
}
