// Advice about errors never mentions what to type into a terminal.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { l10n } from 'vscode';
import { TrellisError } from '../../src/sidecar/api';
import { errorText } from '../../src/sidecar/errors';
import { adviceOf, withSettingNames } from '../../src/sidecar/hints';

const advice = (hint: string, kind = 'unavailable') => adviceOf({ kind, hint }, l10n.t);

test('some kinds of errors have hints of the editor', () => {
  const table: [string, string][] = [
    ['noModel', 'Choose a model.'],
    ['noKey', "Set the provider's API key, or choose another model."],
    ['untrusted', 'Trust the folder, then try again.'],
    ['noFix', 'Nothing was changed. Try again, or choose another model.'],
  ];
  for (const [kind, wanted] of table)
    assert.deepEqual(advice('give `model`, set TRELLIS_MODEL', kind), { text: wanted });
});

test('clauses about the command line are removed from a hint, and options become settings', () => {
  const table: [string, string | undefined, string?][] = [
    ['wait for it, or stop it', 'wait for it, or stop it'],
    ['nothing was changed; try `trellis localize`', 'nothing was changed'],
    ['`git init`, and commit what is there', '`git init`, and commit what is there'],
    [
      'make `.trellis` writable and free some space on the disk',
      'make `.trellis` writable and free some space on the disk',
    ],
    ['give your own another `tests` folder', 'give your own another `tests` folder'],
    ['the README lists what trellis.toml may say', 'the README lists what trellis.toml may say'],
    ['`trellis/jobs` lists them; ask again', 'ask again'],
    ['set TRELLIS_CACHE', undefined],
    ['give `hunks`, or decide `accept` for the whole', undefined],
    [
      'accepted code is kept; to resume, raise the limit (`budgetUsd`, or usd under [budget])',
      'accepted code is kept; change the setting "trellis.budget.usd"',
      'trellis.budget.usd',
    ],
    [
      'convert it, or give another `testsDir`',
      'change the setting "trellis.testsFolder"',
      'trellis.testsFolder',
    ],
    ['run with --approve autonomous', 'change the setting "trellis.approve"', 'trellis.approve'],
    [
      'wait, lower `jobs`; the run can be resumed',
      'the run can be resumed; change the setting "trellis.jobs"',
      'trellis.jobs',
    ],
  ];
  for (const [hint, text, setting] of table) {
    const wanted = { ...(text === undefined ? {} : { text }), ...(setting === undefined ? {} : { setting }) };
    assert.deepEqual(advice(hint), wanted, hint);
  }
});

/** Finds all hints in the sidecar's sources. */
function hints(): string[] {
  const sources = join(process.env.TRELLIS_REPOSITORY ?? '', 'server');
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((it) =>
    /^trellis(?!_sandbox)\w*\/src\/.*\.rs$/.test(it),
  );
  return files.flatMap((it) => {
    const text = readFileSync(join(sources, it), 'utf8');
    return [...text.matchAll(/\.hint\(\s*(?:format(?:_args)?!\(\s*)?"((?:[^"\\]|\\.)*)"/g)].map(
      (found) => found[1] ?? '',
    );
  });
}

test('no hint of the sidecar mentions the command line in a notification', () => {
  const all = hints();
  assert.ok(all.length > 100, `${all.length} hints were found`);
  for (const hint of all) {
    const { text = '' } = advice(hint);
    assert.doesNotMatch(text, /--[a-z]|`trellis|trellis\/|cargo|TRELLIS_/, hint);
  }
});

test('a time limit is reported with the setting that raises it', () => {
  const table: [string, string][] = [
    [
      'a.py::t was stopped after 30 s (the limit of one test; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)',
      'a.py::t was stopped after 30 s (the limit of one test; the setting "trellis.testTimeout" raises it)',
    ],
    [
      'a.py::t was stopped after 60 s (the limit of one test, doubled because lines are measured; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)',
      'a.py::t was stopped after 60 s (the limit of one test, doubled because lines are measured; the setting "trellis.testTimeout" raises it)',
    ],
    [
      'the tests were stopped after 1800 s (the limit of a run; `run_seconds` in trellis.toml (in the editor `trellis.allow.runSeconds`) raises it)',
      'the tests were stopped after 1800 s (the limit of a run; the setting "trellis.allow.runSeconds" raises it)',
    ],
    ['nothing of the kind', 'nothing of the kind'],
  ];
  for (const [message, wanted] of table) {
    assert.equal(withSettingNames(message, l10n.t), wanted);
    assert.equal(errorText(new TrellisError(message, 69, undefined, 'unavailable')), wanted);
  }
});
