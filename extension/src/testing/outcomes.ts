// Outcomes of tests as values, made of events and results.
import type {
  FailureShape,
  ForeignTest,
  Generated,
  RunTestsResult,
  SubtestShape,
  TestFailure,
  TestShape,
  Event as TrellisEvent,
} from '../protocol';

export type Mark = 'passed' | 'failed' | 'skipped';

/** Outcome of a test, with all that is known of it. */
export interface Outcome {
  /** Folder of the project, absolute. */
  readonly root: string;
  /** Id relative to the folder: file, classes, name, parameters. */
  readonly id: string;
  readonly mark: Mark;
  /** The sidecar's word for the outcome, such as `xFailed`. */
  readonly word: string;
  readonly durationMs: number;
  /** File with the test, relative to the root. */
  readonly path?: string;
  /** Line of the test, from 1. */
  readonly line?: number;
  readonly failure?: Failure;
  /** Reason of a skip or an expected failure. */
  readonly reason?: string;
  readonly output?: CapturedOutput;
  readonly subtests?: readonly Subtest[];
  /** Time at which the tested texts were read, in milliseconds since 1970. */
  readonly textOf?: number;
}

/** Texts that pytest captured; empty ones are left out. */
export interface CapturedOutput {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly log?: string;
}

/** A part of a test, with its own outcome. */
export interface Subtest {
  /** Description, such as `[message] (i=1)`. */
  readonly name: string;
  readonly mark: Mark;
  readonly failure?: Failure;
}

export interface Failure {
  readonly message: string;
  /** Sides of the failed comparison. */
  readonly expected?: string;
  readonly actual?: string;
  /** Location of the failure; the path is relative to the root, the line counts from 1. */
  readonly path?: string;
  readonly line?: number;
  readonly traceback?: string;
}

/** Converts the event of a test. Its failure is short; the result of the run has the whole. */
export function outcomeOfEvent(event: Extract<TrellisEvent, { type: 'test' }>): Outcome {
  const { root, id, outcome, durationMs, path, line } = event;
  return {
    root,
    id,
    ...markFields(outcome),
    durationMs,
    ...optionalField('reason', event.reason),
    ...optionalField('path', path),
    ...optionalField('line', line),
    ...optionalField('textOf', event.textOf),
    ...shortFailure(event),
  };
}

/** Converts the tests of another process. */
export function outcomesOfResults({
  root,
  tests,
}: Extract<TrellisEvent, { type: 'results' }>): readonly Outcome[] {
  return tests.map((it) => ({
    root,
    id: it.id,
    ...markFields(it.outcome),
    durationMs: 0,
    textOf: it.textOf,
    ...shortFailure(it),
  }));
}

function shortFailure(test: Pick<ForeignTest, 'message' | 'failedPath' | 'failedLine'>): {
  failure?: Failure;
} {
  const { message, failedPath, failedLine } = test;
  return message
    ? { failure: { message, ...optionalField('path', failedPath), ...optionalField('line', failedLine) } }
    : {};
}

/** Converts the result of a run. */
export function outcomesOfRun(result: RunTestsResult): readonly Outcome[] {
  return result.tests.map((it) => outcomeOfTest(result.root, it));
}

/** Outcomes of complete sessions. */
const COMPLETE: readonly string[] = ['passed', 'failed', 'noTests', 'collectionError'];

/**
 * Returns the ids of all tests in the files that a run of a whole project executed; `undefined` if it is incomplete.
 */
export function completeIds(result: RunTestsResult): ReadonlySet<string> | undefined {
  return COMPLETE.includes(result.outcome) ? collectedIds(result) : undefined;
}

/** Returns the ids of all tests that a session collected. */
export function collectedIds(result: RunTestsResult): ReadonlySet<string> | undefined {
  const { tests, notRun, deselected, parsingFailed } = result;
  return parsingFailed ? undefined : new Set([...tests.map((it) => it.id), ...notRun, ...deselected]);
}

/** An error during collection. */
export interface CollectionError {
  /** Id of the file or folder, else a requested id; empty for the whole project. */
  readonly id: string;
  readonly failure: Failure;
}

/**
 * Finds the errors during collection.
 * @param named requested ids; none for the whole project
 */
export function collectionErrorsOf(
  result: RunTestsResult,
  named: readonly string[],
): readonly CollectionError[] {
  return result.collectionErrors.flatMap((shape) => {
    const failure = failureOf(shape);
    const ids = [collectedFile(shape) ?? failure.path ?? idsInMessage(failure.message, named)].flat();
    return ids.map((id) => ({ id, failure }));
  });
}

/** Returns the file that was collected, if known; the failure may be located in a file that it imports. */
function collectedFile(shape: FailureShape & { collecting?: string | null }): string | undefined {
  return shape.collecting ?? undefined;
}

/** Returns the ids that a message such as `not found: /p/a.py::t` names, else all requested ids. */
function idsInMessage(message: string, named: readonly string[]): readonly string[] {
  const lines = message.split('\n');
  const those = named.filter((id) => lines.some((it) => it.endsWith(`/${id}`) || it.endsWith(` ${id}`)));
  if (those.length > 0) return those;
  return named.length > 0 ? named : [''];
}

/** Converts the tests that were generated and run. */
export function outcomesOfGenerated({ root, path, tests }: Generated): readonly Outcome[] {
  return tests.map((it) => outcomeOf(root, path, it));
}

function outcomeOfTest(root: string, test: TestShape): Outcome {
  const { stdout, stderr, log, subtests } = test;
  return {
    ...outcomeOf(root, test.path, test),
    ...optionalField('reason', test.reason),
    output: {
      ...optionalField('stdout', stdout),
      ...optionalField('stderr', stderr),
      ...optionalField('log', log),
    },
    ...(subtests.length === 0 ? {} : { subtests: subtests.map(subtestOf) }),
  };
}

function subtestOf({ name, outcome, failure }: SubtestShape): Subtest {
  return { name, mark: markFields(outcome).mark, ...(failure ? { failure: failureOf(failure) } : {}) };
}

/** pytest's words for outcomes that its summary lists with a reason. */
const NOTED: Record<string, string> = { skipped: 'skipped', xFailed: 'xfailed', xPassed: 'xpassed' };

/** Returns the note beside a test: `xfailed: reason`; empty for plain passes and failures. */
export function noteOf({ word, reason }: Pick<Outcome, 'word' | 'reason'>): string {
  const noted = NOTED[word];
  return [noted, reason].filter((it) => noted !== undefined && it !== undefined).join(': ');
}

/** Common fields of ended tests. */
type EndedTest = Pick<TestShape, 'id' | 'outcome' | 'durationMs' | 'line' | 'failure'>;

function outcomeOf(
  root: string,
  path: string,
  { id, outcome, durationMs, line, failure }: EndedTest,
): Outcome {
  return {
    root,
    id,
    ...markFields(outcome),
    durationMs,
    path,
    ...optionalField('line', line),
    ...(failure ? { failure: failureOf(failure) } : {}),
  };
}

/** Converts a failure of the wire. */
export function failureOf(shape: FailureShape | TestFailure): Failure {
  const { exception, message, path, line, traceback } = shape;
  const comparison = 'comparison' in shape ? shape.comparison : undefined;
  const text = [exception, message].filter((it) => it !== '').join(': ');
  const sides = comparison ? { expected: comparison.expected, actual: comparison.actual } : {};
  return {
    message: text,
    ...sides,
    ...optionalField('path', path),
    ...optionalField('line', line),
    ...optionalField('traceback', traceback),
  };
}

/** Words without a mark here are failures. */
const MARK_OF_WORD: Record<string, Mark> = {
  passed: 'passed',
  xPassed: 'passed',
  skipped: 'skipped',
  xFailed: 'skipped',
};

function markFields(word: string): { mark: Mark; word: string } {
  return { mark: MARK_OF_WORD[word] ?? 'failed', word };
}

function optionalField<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  const found: { [P in K]?: V } = {};
  if (value !== null && value !== undefined && value !== '') found[key] = value;
  return found;
}
