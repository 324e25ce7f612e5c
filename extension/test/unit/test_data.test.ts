// Tests as values: ids, outcomes, and lenses of a document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Generated, RunTestsResult, Event as TrellisEvent } from '../../src/protocol';
import { type Lens, testsOf } from '../../src/sidecar/lenses';
import { contributesDebugger, type DebugTarget, launchConfiguration } from '../../src/testing/debug_launch';
import { idSteps, isWithin, outermost } from '../../src/testing/ids';
import { marksOf } from '../../src/testing/lens_marks';
import { LiveRun } from '../../src/testing/live_run';
import { ignoreOptions, outermostRuns } from '../../src/testing/nested_runs';
import {
  collectedIds,
  collectionErrorsOf,
  completeIds,
  outcomeOfEvent,
  outcomesOfGenerated,
  outcomesOfResults,
  outcomesOfRun,
} from '../../src/testing/outcomes';

test('a test id is a path in a tree', () => {
  const table: [string, string[]][] = [
    ['test_a.py', ['test_a.py']],
    ['t/test_a.py', ['t', 'test_a.py']],
    ['t/u/test_a.py::test_b', ['t', 'u', 'test_a.py', 'test_b']],
    ['test_a.py::TestX::test_b', ['test_a.py', 'TestX', 'test_b']],
    ['t/test_a.py::test_b[1-x::y/z]', ['t', 'test_a.py', 'test_b', '[1-x::y/z]']],
    ['t/[id].test.ts::a', ['t', '[id].test.ts', 'a']],
    ['t/a.test.ts::reads [x]::of y[0]', ['t', 'a.test.ts', 'reads [x]', 'of y[0]']],
    ['internal/cart::TestX/of_[y]/z', ['internal', 'cart', 'TestX', 'of_[y]', 'z']],
    ['.::TestX', ['.', 'TestX']],
    ['/usr/x.py', ['/usr/x.py']],
    ['../x.py::t', ['../x.py', 't']],
  ];
  for (const [id, labels] of table) {
    const steps = idSteps(id);
    assert.deepEqual(
      steps.map((it) => it.label),
      labels,
    );
    assert.equal(steps.at(-1)?.id, id);
  }
  assert.equal(idSteps('a.py::T::t[1]')[2]?.id, 'a.py::T::t');
  assert.equal(idSteps('cart::TestX/y/z')[2]?.id, 'cart::TestX/y');
});

test('ids below other ids are not run twice', () => {
  const ids = [
    'a.py::T',
    'a.py::T::t',
    'a.py::T2::t',
    'b.py::t[1]',
    'a.py::T',
    't/u',
    't/u/c.py::t',
    't/u2/c.py',
  ];
  const left = ['a.py::T', 'a.py::T2::t', 'b.py::t[1]', 't/u', 't/u2/c.py'];
  assert.deepEqual(outermost(ids), left);
});

test("the debugger runs the chosen tests with pytest in the project's folder", () => {
  const table: [Partial<DebugTarget>, string[], object][] = [
    [{ ids: ['a.py::T::t[1-x]', 'b.py'] }, ['a.py::T::t[1-x]', 'b.py'], {}],
    [{ options: ['--ignore=grown'] }, ['--ignore=grown'], {}],
    [{ ids: ['a.py'], paths: ['/shop/src', '/shop/lib'] }, ['a.py'], { PYTHONPATH: '/shop/src:/shop/lib' }],
  ];
  const python = '/envs/a/bin/python';
  for (const [given, args, env] of table) {
    const whole = launchConfiguration(
      { root: '/shop', ids: [], options: [], paths: [], python, ...given },
      ':',
    );
    assert.deepEqual(
      [whole.type, whole.module, whole.args, whole.cwd, whole.env, whole.python],
      ['debugpy', 'pytest', args, '/shop', env, python],
    );
  }
});

test('a Python debugger is recognized by what its extension contributes', () => {
  const bringing = (...types: string[]) => ({ contributes: { debuggers: types.map((type) => ({ type })) } });
  const table: [unknown, boolean][] = [
    [bringing('node', 'debugpy'), true],
    [bringing('python'), false],
    [{ contributes: {} }, false],
    [{}, false],
    [undefined, false],
  ];
  for (const [manifest, brings] of table) assert.equal(contributesDebugger(manifest), brings);
});

test('a test lies below its file, class and folder, not below similar names', () => {
  const table: [string, string, boolean][] = [
    ['', 'a.py::t', true],
    ['a.py', 'a.py::t', true],
    ['tests', 'tests/a.py::t', true],
    ['a.py::t', 'a.py::t[1]', true],
    ['a.py::t', 'a.py::t', true],
    ['a.py::t', 'a.py::t2', false],
    ['a.py::T', 'a.py::T2::t', false],
  ];
  for (const [target, id, wanted] of table) assert.equal(isWithin(target, id), wanted, `${id} in ${target}`);
});

test('the event of a test has what is known so far', () => {
  const event = { type: 'test', job: 'job-1', root: '/p', id: 'a.py::t', durationMs: 3 } as const;
  assert.deepEqual(outcomeOfEvent({ ...event, outcome: 'passed', path: 'a.py', line: 7 }), {
    root: '/p',
    id: 'a.py::t',
    mark: 'passed',
    word: 'passed',
    durationMs: 3,
    path: 'a.py',
    line: 7,
  });
  const marks = [
    'passed',
    'xPassed',
    'skipped',
    'xFailed',
    'failed',
    'error',
    'timedOut',
    'crashed',
    'unheard',
  ].map((outcome) => outcomeOfEvent({ ...event, outcome }).mark);
  assert.deepEqual(marks, [
    'passed',
    'passed',
    'skipped',
    'skipped',
    'failed',
    'failed',
    'failed',
    'failed',
    'failed',
  ]);
  const { failure, line } = outcomeOfEvent({ ...event, outcome: 'failed', line: null, message: 'no' });
  assert.deepEqual([failure, line], [{ message: 'no' }, undefined]);
});

const result = (tests: RunTestsResult['tests']): RunTestsResult => ({
  root: '/p',
  outcome: 'failed',
  parsingFailed: false,
  tests,
  deselected: [],
  notRun: [],
  notes: [],
  collectionErrors: [],
  limits: [],
  durationMs: 1,
});

const told = (job: string, id: string, outcome: string): TrellisEvent => ({
  type: 'test',
  job,
  root: '/p',
  id,
  outcome,
  durationMs: 1,
});
const heard = (live: LiveRun, ...events: TrellisEvent[]) =>
  events.flatMap((it) => live.handleEvent(it)?.id ?? []);

test('outcomes from before the sidecar ended are shown, each once', () => {
  const live = () => {
    const made = new LiveRun();
    const events = [
      told('job-1', 'a.py::bad', 'failed'),
      told('job-1', 'a.py::flaky', 'failed'),
      told('job-1', 'a.py::flaky', 'passed'),
      told('job-1', 'a.py::good', 'passed'),
    ];
    assert.deepEqual(heard(made, ...events), ['a.py::flaky', 'a.py::good']);
    return made;
  };
  const base = {
    durationMs: 1,
    path: 'a.py',
    stdout: '',
    stderr: '',
    log: '',
    subtests: [],
    line: 3,
    failure: null,
  };
  const results = outcomesOfRun(
    result([
      { ...base, id: 'a.py::bad', outcome: 'failed' },
      { ...base, id: 'a.py::good', outcome: 'passed' },
      { ...base, id: 'a.py::unheard', outcome: 'passed' },
    ]),
  );
  const rest = (of: typeof results) =>
    live()
      .remaining(of)
      .map((it) => [it.id, it.line]);
  assert.deepEqual(rest([]), [['a.py::bad', undefined]]);
  assert.deepEqual(rest(results), [
    ['a.py::bad', 3],
    ['a.py::unheard', 3],
  ]);
});

test('only complete results list all tests of the files', () => {
  const [ran, found] = [['a.py::t'], ['a.py::t', 'b.py::u']];
  const base = {
    durationMs: 1,
    path: 'a.py',
    stdout: '',
    stderr: '',
    log: '',
    subtests: [],
    outcome: 'passed',
  };
  const tests = ran.map((id) => ({ ...base, id }));
  const broken = { exception: 'SyntaxError', message: '', traceback: '' };
  const table: [string, Partial<RunTestsResult>, string[] | undefined, string[] | undefined][] = [
    ['looked for', { outcome: 'crashed', notRun: found }, found, undefined],
    ['run', { outcome: 'passed', tests }, ran, ran],
    [
      'left out',
      { outcome: 'passed', tests, deselected: ['a.py::slow'] },
      [...ran, 'a.py::slow'],
      [...ran, 'a.py::slow'],
    ],
    ['none left', { outcome: 'noTests' }, [], []],
    ['nothing came', { outcome: 'sandboxLost' }, [], undefined],
    ['cut off', { outcome: 'timedOut', tests, notRun: ['b.py::u'] }, found, undefined],
    ['a broken file', { outcome: 'collectionError', tests, collectionErrors: [broken] }, ran, ran],
    ['read from text', { outcome: 'failed', tests, parsingFailed: true }, undefined, undefined],
  ];
  for (const [name, given, collected, all] of table) {
    const made = { ...result([]), ...given };
    const ids = (of: ReadonlySet<string> | undefined) => of && [...of];
    assert.deepEqual([ids(collectedIds(made)), ids(completeIds(made))], [collected, all], name);
  }
});

test('a collection error belongs to its file, else to the requested tests, else to the project', () => {
  const usage = (message: string) => ({ exception: 'UsageError', message, traceback: message });
  const missing = usage('ERROR: not found: /p/t/a.py::t\n(no match in any of [<Module a.py>])');
  const imported = { exception: 'ImportError', message: 'no', path: 'shop/cart.py', line: 3, traceback: '' };
  const named = ['t/a.py::t', 't/a.py::t2'];
  const table: [object, string[], string[]][] = [
    [imported, [], ['shop/cart.py']],
    [{ ...imported, collecting: 't/a.py' }, [], ['t/a.py']],
    [missing, named, ['t/a.py::t']],
    [usage('ERROR: file or directory not found: t/a.py'), ['t/a.py', 't/b.py'], ['t/a.py']],
    [usage('ERROR: unrecognized arguments: -q9'), named, named],
    [usage('ERROR: unrecognized arguments: -q9'), [], ['']],
  ];
  for (const [failure, asked, wanted] of table) {
    const shape = { ...usage(''), ...failure };
    const broken = collectionErrorsOf({ ...result([]), collectionErrors: [shape] }, asked);
    assert.deepEqual(
      broken.map((it) => it.id),
      wanted,
    );
  }
});

test('a result has the location of a failure, and both sides of the comparison', () => {
  const failure = {
    exception: 'AssertionError',
    message: 'assert 2 == 3',
    path: 'src/a.py',
    line: 9,
    traceback: 'E',
    comparison: { operator: '==', actual: '2', expected: '3' },
  };
  const base = { durationMs: 1, path: 'a.py', stdout: 'said\n', stderr: '', log: '', subtests: [] };
  const [failed, passed] = outcomesOfRun(
    result([
      { ...base, id: 'a.py::t', outcome: 'failed', line: 4, failure },
      { ...base, id: 'a.py::u', outcome: 'passed', line: null, failure: null, stdout: '' },
    ]),
  );
  assert.deepEqual(failed, {
    root: '/p',
    id: 'a.py::t',
    mark: 'failed',
    word: 'failed',
    durationMs: 1,
    path: 'a.py',
    line: 4,
    output: { stdout: 'said\n' },
    failure: {
      message: 'AssertionError: assert 2 == 3',
      expected: '3',
      actual: '2',
      path: 'src/a.py',
      line: 9,
      traceback: 'E',
    },
  });
  assert.equal(
    passed !== undefined && ('line' in passed || 'failure' in passed),
    false,
    'nothing is made up',
  );
});

const lens = (line: number, command: string, ...args: unknown[]): Lens => ({
  line,
  endLine: line,
  command,
  args,
});
const run = (line: number, ...paths: string[]) => lens(line, 'trellis.runTests', { root: '/p', paths });

test('the tests of a document are those that its lenses run alone', () => {
  const lenses = [
    run(3, 'tests/test_a.py::test_b'),
    run(9, 'tests/test_a.py'),
    run(12, 'tests/test_other.py::test_c'),
    run(15, 'tests/test_a.py::x', 'tests/test_a.py::y'),
    lens(20, 'trellis.runTests', 'nonsense'),
    lens(21, 'trellis.generateTests', { root: '/p', paths: ['tests/test_a.py::z'] }),
  ];
  assert.deepEqual(testsOf('/p/tests/test_a.py', lenses), [
    { root: '/p', id: 'tests/test_a.py::test_b', line: 3, endLine: 3 },
  ]);
  const ids = (path: string, id: string) => testsOf(path, [run(1, id)]).map((it) => it.id);
  assert.deepEqual(ids('/p/cart/a_test.go', 'cart::TestA'), ['cart::TestA']);
  assert.deepEqual(ids('/p/a_test.go', '.::TestA'), ['.::TestA']);
  assert.deepEqual(ids('/p/cart/a_test.go', '.::TestA'), []);
});

test('a line has the worst mark of its lenses, and none without an outcome', () => {
  const shows = (line: number, mark: unknown) => lens(line, 'trellis.showResult', { test: 't' }, { mark });
  const lenses = [
    shows(1, 'passed'),
    shows(2, 'skipped'),
    shows(2, 'failed'),
    shows(2, 'passed'),
    shows(3, 'passed'),
    lens(3, 'trellis.retryNode', { node: 'n' }),
    shows(4, 'splendid'),
    lens(5, 'trellis.showResult', { test: 't' }),
    run(6, 'a.py::t'),
  ];
  assert.deepEqual(marksOf(lenses), [
    { line: 1, mark: 'passed' },
    { line: 2, mark: 'failed' },
    { line: 3, mark: 'failed' },
  ]);
});

test('generated tests have outcomes at once', () => {
  const failure = { exception: 'KeyError', message: "'a'", path: 'src/a.py', line: 2, traceback: 'T' };
  const written: Generated = {
    function: 'src/a.py::f',
    root: '/p',
    path: 'trellis_tests/test_a.py',
    source: '',
    diff: '',
    testNames: [],
    framework: 'pytest',
    model: 'm',
    warnings: [],
    outcome: 'failed',
    tests: [
      { id: 'trellis_tests/test_a.py::t', outcome: 'passed', durationMs: 1, line: 4 },
      { id: 'trellis_tests/test_a.py::u', outcome: 'failed', durationMs: 2, line: null, failure },
    ],
    errors: [],
    written: true,
  };
  const base = { root: '/p', path: 'trellis_tests/test_a.py' };
  const found = { message: "KeyError: 'a'", path: 'src/a.py', line: 2, traceback: 'T' };
  assert.deepEqual(outcomesOfGenerated(written), [
    { ...base, id: 'trellis_tests/test_a.py::t', mark: 'passed', word: 'passed', durationMs: 1, line: 4 },
    {
      ...base,
      id: 'trellis_tests/test_a.py::u',
      mark: 'failed',
      word: 'failed',
      durationMs: 2,
      failure: found,
    },
  ]);
});

test('generated repositories below a project are excluded, with those inside of them', () => {
  const outs = (...all: string[]) => all.map((out) => ({ out }));
  const table: [{ out: string }[], readonly string[], string[]][] = [
    [outs('/w/a', '/w/a/b', '/w/c/d', '/w', '/wide'), ['/w/a', '/w/c/d'], ['--ignore=a', '--ignore=c/d']],
    [outs('/w'), [], []],
    [[], [], []],
  ];
  for (const [runs, folders, options] of table) {
    assert.deepEqual(outermostRuns(runs, '/w'), folders);
    assert.deepEqual(ignoreOptions('/w', folders), options);
  }
});

test('results of other processes have failures with locations', () => {
  const told = { message: 'ValueError: no', failedPath: 't/test_a.py', failedLine: 4 };
  const tests = [
    { id: 't/test_a.py::test_b', outcome: 'failed', textOf: 7, ...told },
    { id: 't/test_a.py::test_c', outcome: 'passed', textOf: 7 },
  ];
  const outcomes = outcomesOfResults({ type: 'results', root: '/p', tests });
  assert.deepEqual(outcomes[0]?.failure, { message: 'ValueError: no', path: 't/test_a.py', line: 4 });
  assert.deepEqual(
    outcomes.map((it) => it.mark),
    ['failed', 'passed'],
  );
});

test('an outdated pass has no mark, an outdated failure has', () => {
  const lens = (mark: string, stale: boolean) => ({
    line: stale ? 1 : 2,
    endLine: 3,
    command: 'trellis.showResult',
    args: [{ root: '/p', test: 'a' }, stale ? { mark, stale } : { mark }],
  });
  assert.deepEqual(marksOf([lens('passed', true), lens('passed', false)]), [{ line: 2, mark: 'passed' }]);
  assert.deepEqual(marksOf([lens('failed', true)]), [{ line: 1, mark: 'failed' }]);
});
