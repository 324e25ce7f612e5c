// The browser, and a page that always ends.
import { type Browser, chromium, type Page } from 'playwright-core';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Milliseconds that anything in the page may take. */
export const patience = 60_000;

/** Starts Chromium, where Debian puts it or where TRELLIS_CHROMIUM says. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.TRELLIS_CHROMIUM ?? '/usr/bin/chromium';
  return await chromium.launch({ executablePath, args: quiet, headless: true });
}

export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  return page;
}

/** Closes a page; the extension host would live on for hours if the workbench did not say goodbye. */
export async function closePage(page: Page): Promise<void> {
  if (!page.isClosed()) await page.goto('about:blank');
  await page.context().close();
}
