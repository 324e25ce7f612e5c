// Costs of the Testing view with many tests: finding them, and a run beside the same run without an editor.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { environment } from '../lane/program';
import { write } from '../lane/scratch';
import type { Session } from '../lane/session';
import type { Workbench } from '../lane/workbench';

const [FOLDERS, FILES, TESTS] = [15, 10, 10] as const;
const ALL = FOLDERS * FILES * TESTS;
const ROUNDS = 3;

/** Measures the view of a project with 1,500 small tests; says each result. */
export async function testsView(
  { server, workbench }: Session,
  binary: string,
  say: (line: string) => void,
): Promise<void> {
  const root = manyTests(server.scratch.root);
  await workbench.open(root);
  await workbench.command('Testing: Focus on Test Explorer View');
  const opened = performance.now();
  for (const it of ['many', 'tests']) await workbench.expand(workbench.testParent(it));
  await workbench
    .testParent(`pkg${FOLDERS - 1}`)
    .first()
    .waitFor();
  const found = performance.now() - opened;
  const alone = () => serverRun(binary, root, environment(server.lane, server.scratch));
  say(`finding ${ALL} tests, with two clicks: ${found.toFixed(0)} ms`);
  // The first runs make the environment and compile the files.
  await viewRun(workbench);
  const { interpreter } = alone();
  for (let round = 0; round < ROUNDS; round += 1) {
    const terminal = terminalRun(interpreter, root);
    const own = timed(alone);
    const view = await viewRun(workbench);
    const over = (it: number) => `${(it / 1000).toFixed(2)} s, ${(it / terminal).toFixed(2)} of a terminal`;
    say(
      `a run of ${ALL} tests: terminal ${(terminal / 1000).toFixed(2)} s; \`trellis test\` ${over(own)}; view ${over(view)}`,
    );
  }
}

function manyTests(below: string): string {
  const root = join(below, 'many');
  write(join(root, 'pyproject.toml'), '[project]\nname = "many"\nversion = "1"\n');
  write(join(root, 'many.py'), 'def add(a, b):\n    return a + b\n');
  for (let file = 0; file < FOLDERS * FILES; file += 1) {
    const test = (it: number) => `\n\ndef test_${file}_${it}():\n    assert add(${it}, 1) == ${it + 1}\n`;
    const texts = Array.from({ length: TESTS }, (_, it) => test(it));
    const path = join(root, 'tests', `pkg${Math.floor(file / FILES)}`, `test_m${file}.py`);
    write(path, `from many import add\n${texts.join('')}`);
  }
  return root;
}

/** Runs all tests in the view by its keys; returns the milliseconds until it shows that all have passed. */
async function viewRun(workbench: Workbench): Promise<number> {
  await workbench.page.keyboard.press('Control+;');
  const began = performance.now();
  await workbench.page.keyboard.press('a');
  await workbench.page.locator('.sidebar').getByText(`${ALL}/${ALL}`).first().waitFor();
  const took = performance.now() - began;
  await workbench.command('Test: Clear All Results');
  return took;
}

interface ServerRun {
  readonly interpreter: string;
}

function serverRun(binary: string, root: string, env: NodeJS.ProcessEnv): ServerRun {
  const printed = execFileSync(binary, ['--json', 'test', '--sandbox', 'local', root], {
    cwd: root,
    env,
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(printed.toString());
}

function terminalRun(interpreter: string, root: string): number {
  const run = () =>
    execFileSync(interpreter, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
      cwd: root,
      stdio: 'ignore',
    });
  return timed(run);
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
