// Shows outcomes in the editor's Testing view.
import { join } from 'node:path';
import { Location, l10n, Position, type TestItem, TestMessage, type TestRun, Uri } from 'vscode';
import type { RunTestsResult } from '../protocol';
import { withSettingNames } from '../sidecar/hints';
import { collectionErrorsOf, type Failure, type Outcome } from './outcomes';
import { testOutput } from './test_output';
import type { TestTree } from './tree';

/** Context of messages about failures, which menus know. */
const FAILED = 'trellis.failed';

/** Reports the outcome of a test to its run. */
export function applyOutcome(run: TestRun, item: TestItem, outcome: Outcome): void {
  const { mark, word, durationMs, root, failure } = outcome;
  if (mark === 'skipped') run.skipped(item);
  else if (mark === 'passed') run.passed(item, durationMs);
  else {
    const message = messageOf(root, failure ?? { message: word }, locationOf(item));
    if (word === 'failed') run.failed(item, message, durationMs);
    else run.errored(item, message, durationMs);
  }
}

/** Reports what only the result of a run has: the text about a test, and the outcomes of its parts. */
export function applyDetails(run: TestRun, tree: TestTree, item: TestItem, outcome: Outcome): void {
  run.appendOutput(terminalLines(testOutput(outcome)), undefined, item);
  const subtests = outcome.subtests ?? [];
  const parts = tree.parts(
    item,
    subtests.map((it) => it.name),
  );
  for (const [at, part] of parts.entries()) {
    const { mark = 'passed', failure } = subtests[at] ?? {};
    applyOutcome(run, part, { ...outcome, mark, word: mark, failure: failure ?? { message: mark } });
  }
}

/** Reports what prevented tests from running: files that could not be imported, an unavailable sandbox. */
export function applyCollectionErrors(
  run: TestRun,
  tree: TestTree,
  result: RunTestsResult,
  named: readonly string[],
): void {
  const { root, outcome, reason, notes } = result;
  for (const note of notes) run.appendOutput(terminalLines(note));
  const broken = collectionErrorsOf(result, named).filter((it) => !tree.isInternal(root, it.id));
  for (const { id, failure } of broken) run.errored(tree.item(root, id), messageOf(root, failure, undefined));
  // A named file may have no tests yet.
  const isEmpty = outcome === 'noTests' && (result.tests.length > 0 || named.length > 0);
  if (broken.length > 0 || outcome === 'passed' || outcome === 'failed' || isEmpty) return;
  const why = withSettingNames(reason ?? l10n.t('the run ended with "{0}"', outcome), l10n.t);
  run.errored(tree.item(root, ''), new TestMessage(why));
}

/**
 * Makes the message of a failure.
 * @param otherwise location if that of the failure is unknown
 */
function messageOf(root: string, failure: Failure, otherwise: Location | undefined): TestMessage {
  const { expected, actual, path, line, traceback } = failure;
  const message = withSettingNames(failure.message, l10n.t);
  const made =
    expected === undefined || actual === undefined
      ? new TestMessage(traceback === undefined ? message : `${message}\n\n${traceback}`)
      : TestMessage.diff(message, expected, actual);
  const known = path !== undefined && line !== undefined;
  const place = known ? new Location(Uri.file(join(root, path)), new Position(line - 1, 0)) : otherwise;
  if (place !== undefined) made.location = place;
  made.contextValue = FAILED;
  return made;
}

function locationOf(item: TestItem): Location | undefined {
  return item.uri === undefined || item.range === undefined ? undefined : new Location(item.uri, item.range);
}

/** Makes line ends for a terminal, which needs carriage returns. */
export function terminalLines(text: string): string {
  return `${text.replace(/\r?\n/g, '\r\n')}\r\n`;
}
