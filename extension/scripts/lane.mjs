// The tests of one lane: several files side by side; in CI what failed runs once more when the others have ended.
import { appendFileSync } from 'node:fs';
import { runFile } from './file.mjs';

/** Characters that are kept of a failure whose test passed when it ran once more. */
const KEPT = 2000;

/** Runs files of tests in their order, so many `beside` each other, and tells what each took; says whether all passed. */
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

/** What comes of `work` on each, in their order; so many are under way at once, and they begin in their order. */
async function pooled(all, width, work) {
  const results = [];
  const left = all.entries();
  const worker = async () => {
    for (const [index, it] of left) results[index] = await work(it);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

/** A test that failed and then passed: on the terminal, and where TRELLIS_FLAKY wants it. */
function tellFlaky(lane, { name, said, failures }) {
  // What fails outside of every test has no name, and only its output says of what.
  const all = failures.length > 0 ? failures : [{ test: 'the file itself', first: said.slice(-KEPT) }];
  for (const it of all) {
    const test = `lane ${lane}: ${name}.test.ts › ${it.test}`;
    console.error(`FLAKY ${test}`);
    const entry = JSON.stringify({ test, first: it.first.slice(0, KEPT) });
    if (process.env.TRELLIS_FLAKY) appendFileSync(process.env.TRELLIS_FLAKY, `${entry}\n`);
  }
}

/** What a file said, without the counts that node's test runner adds for each. */
function shortened(said) {
  const lines = said.trimEnd().split('\n');
  return lines.filter((it) => !it.startsWith('ℹ ')).join('\n');
}

/** What each file took, slowest first. */
function table(lane, results) {
  const slowest = [...results].sort((one, other) => other.seconds - one.seconds);
  return slowest.map((it) => line(lane, it)).join('\n');
}

function line(lane, { name, passed, seconds }) {
  return `lane ${lane}: ${name.padEnd(12)}${seconds.toFixed(1).padStart(7)} s${passed ? '' : '  FAILED'}`;
}
