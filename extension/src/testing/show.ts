// Outcomes as the editor's Testing view takes them.
import { join } from 'node:path';
import { Location, l10n, Position, type TestItem, TestMessage, type TestRun, Uri } from 'vscode';
import type { RunTestsResult } from '../protocol';
import { withSettingNames } from '../sidecar/hints';
import { brokenIn, type Failure, type Outcome } from './outcomes';
import type { TestTree } from './tree';

/** Says of a test in a run how it ended. */
export function showOutcome(run: TestRun, item: TestItem, outcome: Outcome): void {
  const { mark, word, durationMs, root, failure, printed, reason } = outcome;
  if (printed !== undefined) run.appendOutput(lines(printed), undefined, item);
  if (mark === 'skipped') {
    if (reason !== undefined) run.appendOutput(lines(reason), undefined, item);
    run.skipped(item);
    return;
  }
  if (mark === 'passed') {
    run.passed(item, durationMs);
    return;
  }
  const message = messageOf(root, failure ?? { message: word }, placeOf(item));
  if (word === 'failed') run.failed(item, message, durationMs);
  else run.errored(item, message, durationMs);
}

/** Says what kept tests from running: files that could not be imported, sandboxes that could not be had. */
export function showBroken(
  run: TestRun,
  tree: TestTree,
  result: RunTestsResult,
  named: readonly string[],
): void {
  const { root, outcome, reason, notes } = result;
  for (const note of notes) run.appendOutput(lines(note));
  const broken = brokenIn(result, named).filter((it) => !tree.isInternal(root, it.id));
  for (const { id, failure } of broken) run.errored(tree.item(root, id), messageOf(root, failure, undefined));
  const isAllSkipped = outcome === 'noTests' && result.tests.length > 0;
  if (broken.length > 0 || outcome === 'passed' || outcome === 'failed' || isAllSkipped) return;
  const why = withSettingNames(reason ?? l10n.t('the run ended with "{0}"', outcome), l10n.t);
  run.errored(tree.item(root, ''), new TestMessage(why));
}

/**
 * @param otherwise where to show it if nobody knows where it failed
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
  return made;
}

function placeOf(item: TestItem): Location | undefined {
  return item.uri === undefined || item.range === undefined ? undefined : new Location(item.uri, item.range);
}

/** A terminal wants both ends of a line. */
export function lines(text: string): string {
  return `${text.replace(/\r?\n/g, '\r\n')}\r\n`;
}
