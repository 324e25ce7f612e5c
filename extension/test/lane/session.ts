// A session with an editor: server, browser and workbench, which end together.
import { existsSync } from 'node:fs';
import { closePage, openPage, startBrowser } from './browser';
import { laneNamed, wanted } from './lanes';
import { limits, withLimit } from './patience';
import { type Server, startServer } from './server';
import { Workbench } from './workbench';

export interface Session {
  readonly server: Server;
  readonly workbench: Workbench;
}

export interface SessionOptions {
  /** Whether folders are trusted without a question; otherwise they are not trusted at first. */
  readonly trusted?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Packed extensions beside ours. */
  readonly others?: readonly string[];
  /** Whether tests run inside the extension host. */
  readonly hostTests?: boolean;
  /** Pixels of the screen for each of the window. */
  readonly scale?: number;
}

/** Settings that differ from the defaults: tests are run by their lenses. */
const TOOLS = { 'trellis.codeLens.tests': true };

/**
 * Does `work` with an editor of the lane that TRELLIS_LANE names, with the packed extension of TRELLIS_VSIX. After a
 * failure, the last picture is kept as `target/pictures/LANE/failed-NAME.png`, beside the server's log.
 */
export async function withSession(
  name: string,
  options: SessionOptions,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const lane = laneNamed(wanted('TRELLIS_LANE'));
  const server = await startServer(lane, {
    name,
    extensions: [packed(), ...(options.others ?? [])],
    trustEverything: options.trusted ?? true,
    settings: { ...TOOLS, ...options.settings },
    hostTests: options.hostTests ?? false,
  });
  try {
    await seated(name, server, options.scale ?? 1, work);
  } finally {
    await server.stop();
  }
}

async function seated(
  name: string,
  server: Server,
  scale: number,
  work: (session: Session) => Promise<void>,
) {
  const browser = await startBrowser();
  try {
    const page = await openPage(browser, scale);
    const workbench = new Workbench(page, server);
    try {
      await withLimit(limits.session, `the end of ${name}`, work({ server, workbench }));
    } catch (error) {
      await tellSeen(name, workbench).catch((it: Error) => console.error(`no more is known: ${it.message}`));
      throw error;
    } finally {
      await closePage(page);
    }
  } finally {
    await browser.close();
  }
}

async function tellSeen(name: string, workbench: Workbench): Promise<void> {
  console.error(`what was to be seen when ${name} failed:\n${await workbench.seen()}`);
  await workbench.failed(name);
  console.error(await workbench.allNotifications());
}

function packed(): string {
  const path = wanted('TRELLIS_VSIX');
  if (!existsSync(path)) throw new Error(`${path} is missing: run \`cargo xtask test --only editor\``);
  return path;
}
