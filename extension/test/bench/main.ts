// `npm run bench [-- NAME…]`: costs of the extension, compared to those of the editor in the same session, and times
// from a save to the marks.
import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { other } from '../lane/other';
import { project } from '../lane/project';
import { type Session, withSession } from '../lane/session';
import { sidecars } from '../lane/sidecar';
import { saveToMarks } from './continuous';
import { testsView } from './tests_view';

/** Milliseconds of each measurement. */
const SPAN = 20_000;
const NODES = 2000;
const EXTENSION = wanted('TRELLIS_EXTENSION');

/** Tasks of a page that took longer than 50 ms. */
interface Tasks {
  readonly count: number;
  /** Number of tasks above the goal of 200 ms. */
  readonly over: number;
  readonly longest: number;
}

const benches: Record<string, () => Promise<void>> = {
  tests: () =>
    withSession('bench-tests', { settings: local }, async (session) => {
      await testsView(session, wanted('TRELLIS_BIN'), say);
      say(`load ${loadavg()[0]?.toFixed(1)}`);
    }),
  activation: () => withSession('bench-activation', { others: [nothing()] }, activation),
  graph: () => withSession('bench-graph', { settings: stub }, graph),
  continuous: async () => {
    for (const tests of [20, 1500])
      await withSession(`bench-continuous-${tests}`, { settings: local }, async (session) =>
        say(await saveToMarks(session, tests)),
      );
  },
};
const stub = { 'trellis.path': join(EXTENSION, 'test', 'bench', 'stub.mjs') };
const local = { 'trellis.sandbox': 'local' };
const chosen = process.argv.slice(2);
for (const [name, bench] of Object.entries(benches))
  if (chosen.length === 0 || chosen.includes(name)) await bench();

/** Measures activation, as timed by the editor. */
async function activation({ server, workbench }: Session): Promise<void> {
  await workbench.open(project(server.scratch.root));
  await workbench.openFile('prices.py');
  await workbench.command('Developer: Show Running Extensions');
  const list = workbench.page.locator('.runtime-extensions-editor');
  const time = async (name: string) => {
    const row = list.locator('.monaco-list-row').filter({ hasText: name });
    return (await row.locator('.activation-time').innerText()).trim();
  };
  const ours = await time('trellis');
  // The list has only the rows that are visible.
  await list.locator('.monaco-list-row').first().click();
  await workbench.page.keyboard.press('End');
  say(`activation, Trellis: ${ours}; an extension that does nothing: ${await time('nothing')}`);
}

/** Measures long tasks of workbench and page: idle, and while every node changes ten times a second. */
async function graph({ server, workbench }: Session): Promise<void> {
  await workbench.open(project(server.scratch.root));
  await workbench.openFile('prices.py');
  await workbench.activity('Trellis');
  await workbench.treeItem('part 0').first().waitFor();
  const without = await pageMemory(workbench.page);
  await workbench.command('Trellis: Show Planning Graph');
  await workbench.webview().locator('canvas').first().waitFor();
  const idle = await watched(workbench);
  const go = join(server.scratch.home, 'go');
  writeFileSync(go, '');
  const busy = await watched(workbench);
  rmSync(go);
  await workbench.picture('bench-graph');
  for (const [place, quiet, loud] of [
    ['workbench', idle.workbench, busy.workbench],
    ['page of the graph', idle.page, busy.page],
  ] as const) {
    say(`${place}, ${SPAN / 1000} s: idle ${tasks(quiet)}; ${NODES} nodes ten times a second ${tasks(loud)}`);
  }
  const within = await pageMemory(workbench.page);
  say(`memory of the renderer: ${without} MB before the picture, ${within} MB with it, after the updates`);
  say(`sidecars ${sidecars(server).length}, load ${loadavg()[0]?.toFixed(1)}`);
}

async function watched(workbench: Session['workbench']): Promise<{ workbench: Tasks; page: Tasks }> {
  // Runs inside of a page.
  const watch = (_: Element, milliseconds: number) =>
    new Promise<Tasks>((resolve) => {
      const lengths: number[] = [];
      const observer = new PerformanceObserver((list) => {
        lengths.push(...list.getEntries().map((it) => it.duration));
      });
      observer.observe({ entryTypes: ['longtask'] });
      setTimeout(() => {
        observer.disconnect();
        resolve({
          count: lengths.length,
          over: lengths.filter((it) => it > 200).length,
          longest: Math.max(0, ...lengths),
        });
      }, milliseconds);
    });
  const [own, page] = await Promise.all([
    workbench.page.locator('body').evaluate(watch, SPAN),
    workbench.webview().locator('body').evaluate(watch, SPAN),
  ]);
  return { workbench: own, page };
}

/** Returns the size of the JavaScript heap in megabytes, after a collection. */
async function pageMemory(page: Session['workbench']['page']): Promise<string> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await tools.send('Runtime.getHeapUsage');
  return (usedSize / 1e6).toFixed(0);
}

function tasks({ count, over, longest }: Tasks): string {
  return `${count} tasks over 50 ms, ${over} over 200 ms, the longest ${longest.toFixed(0)} ms`;
}

/** Makes an extension that does nothing. */
function nothing(): string {
  const manifest = { engines: { vscode: '^1.100.0' }, activationEvents: ['onLanguage:python'] };
  return other('nothing', manifest, 'exports.activate = () => {};\n');
}

function say(text: string): void {
  console.log(text);
}

function wanted(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: use \`npm run bench\``);
  return value;
}
