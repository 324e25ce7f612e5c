// Tests of a lane: several files in parallel; in CI a failed file runs once more at the end.
import { appendFileSync } from 'node:fs';
import { runFile } from './file.mjs';

/** Maximal number of characters of a failure of a flaky test. */
const KEPT = 2000;

/**
 * Runs test files in their order, `beside` of them in parallel, and prints their times; returns whether all passed.
 */
export async function runLane(lane, files, { env, beside }) {
  const run = async (file) => {
    const result = await runFile(file, env);
    console.error(`\n${line(lane, result)}\n${shortened(result.said)}`);
    return result;
  };
  const first = await pooled(files, beside, run);
  const failed = first.filter((it) => !it.passed);
  const again = process.env.CI === 'true' ? await pooled(failed, 1, ({ file }) => run(file)) : failed;
  for (const it of failed.filter((_, index) => again[index].passed)) tellFlaky(lane, it);
  console.error(`\n${table(lane, first)}`);
  return again.every((it) => it.passed);
}

/** Maps `work` over a list in its order, with a limited number at a time. */
async function pooled(all, width, work) {
  const results = [];
  const left = all.entries();
  const worker = async () => {
    for (const [index, it] of left) results[index] = await work(it);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

/** Reports a flaky test: on the terminal, and to TRELLIS_FLAKY. */
function tellFlaky(lane, { name, said, failures }) {
  // A failure outside of tests has no name, and only the output describes it.
  const all = failures.length > 0 ? failures : [{ test: 'the file itself', first: said.slice(-KEPT) }];
  for (const it of all) {
    const test = `lane ${lane}: ${name}.test.ts › ${it.test}`;
    console.error(`FLAKY ${test}`);
    const entry = JSON.stringify({ test, first: it.first.slice(0, KEPT) });
    if (process.env.TRELLIS_FLAKY) appendFileSync(process.env.TRELLIS_FLAKY, `${entry}\n`);
  }
}

/** Removes the counts of node's test runner from the output. */
function shortened(said) {
  const lines = said.trimEnd().split('\n');
  return lines.filter((it) => !it.startsWith('ℹ ')).join('\n');
}

/** Prints the time of each file, slowest first. */
function table(lane, results) {
  const slowest = [...results].sort((one, other) => other.seconds - one.seconds);
  return slowest.map((it) => line(lane, it)).join('\n');
}

function line(lane, { name, passed, seconds }) {
  return `lane ${lane}: ${name.padEnd(12)}${seconds.toFixed(1).padStart(7)} s${passed ? '' : '  FAILED'}`;
}
