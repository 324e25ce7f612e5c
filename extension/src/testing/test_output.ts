// Texts about tests in the output of a run, in the form of pytest's own.
import type { Outcome } from './outcomes';
import { noteOf } from './outcomes';

/** Titles of pytest for what it captured. */
const TITLES = { stdout: 'Captured stdout', stderr: 'Captured stderr', log: 'Captured log' } as const;

/** Returns the text about a test: outcome, traceback, captured output. */
export function testOutput(outcome: Outcome): string {
  const { id, word, durationMs, failure, output = {} } = outcome;
  const note = noteOf(outcome);
  const head = `${id} ${word.toUpperCase()}${note.includes(':') ? ` (${note})` : ''} in ${seconds(durationMs)}`;
  const captured = (['stdout', 'stderr', 'log'] as const).flatMap((kind) => {
    const text = output[kind];
    return text === undefined ? [] : [section(TITLES[kind]), text.trimEnd()];
  });
  return [head, ...(failure?.traceback === undefined ? [] : [failure.traceback]), ...captured].join('\n');
}

/** Returns the last line of a run: `3 passed, 1 failed in 0.52 s`. */
export function runSummary(outcomes: readonly Outcome[], durationMs: number): string {
  const counts = new Map<string, number>();
  for (const { word } of outcomes) counts.set(word, (counts.get(word) ?? 0) + 1);
  const counted = [...counts].map(([word, count]) => `${count} ${word.toLowerCase()}`).join(', ');
  return `${counted || 'no tests ran'} in ${seconds(durationMs)}`;
}

function section(title: string): string {
  return `----- ${title} -----`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
