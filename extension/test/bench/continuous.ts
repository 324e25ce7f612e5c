// Times from the save of a file to the marks of the tests that it affects.
import { loadavg } from 'node:os';
import type { Session } from '../lane/session';
import type { Workbench } from '../lane/workbench';
import { manyTests } from './many_tests';

const ROUNDS = 5;
const LINE = 'return clamp(total + 3)';

/** Measures a continuous run in a project with so many tests; returns the figures as a text. */
export async function saveToMarks({ server, workbench }: Session, tests: number): Promise<string> {
  await workbench.open(manyTests(server.scratch.root, tests));
  await workbench.openFile('part0.py');
  await workbench.command('Testing: Focus on Test Explorer View');
  const began = Date.now();
  await workbench.page.locator('.sidebar a.action-label[aria-label^="Start Continuous Run"]').first().click();
  await workbench.expand(workbench.testParent(`tests-${tests}`));
  // The folder, whose name the project's begins with.
  await workbench.testParent('tests').nth(1).waitFor();
  await workbench.expand(workbench.testParent('tests').nth(1));
  await workbench.expand(workbench.testParent('test_part0.py'));
  await workbench.testItem('test_0_3', 'Passed').waitFor();
  await workbench.page
    .locator('.test-explorer .codicon-modifier-spin')
    .first()
    .waitFor({ state: 'detached' });
  const first = Date.now() - began;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    times.push(await edited(workbench, ' + 1', 'Failed'), await edited(workbench, undefined, 'Passed'));
  }
  times.sort((a, b) => a - b);
  const [fastest, median, slowest] = [times.at(0), times.at(times.length / 2), times.at(-1)];
  return (
    `continuous run, ${tests} tests: first run of all ${first} ms; save to marks ${median} ms ` +
    `(${fastest} to ${slowest}, ${times.length} saves), load ${loadavg()[0]?.toFixed(1)}`
  );
}

/** Adds to the function, or takes the addition back; returns the time from the save to the mark. */
async function edited(workbench: Workbench, added: string | undefined, state: string): Promise<number> {
  if (added === undefined)
    for (let it = 0; it < ' + 1'.length; it += 1) await workbench.page.keyboard.press('Backspace');
  else await workbench.typeAfter(LINE, added);
  const saved = Date.now();
  await workbench.page.keyboard.press('Control+S');
  await workbench.testItem('test_0_3', state).waitFor();
  return Date.now() - saved;
}
