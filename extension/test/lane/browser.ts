// The browser, and pages that close properly.
import { type Browser, chromium, type Page } from 'playwright-core';
import { limits } from './patience';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium from Debian's path, or from TRELLIS_CHROMIUM. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.TRELLIS_CHROMIUM ?? '/usr/bin/chromium';
  return await chromium.launch({ executablePath, args: quiet, headless: true, timeout: limits.page });
}

export async function openPage(browser: Browser, deviceScaleFactor = 1): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, deviceScaleFactor });
  const page = await context.newPage();
  page.setDefaultTimeout(limits.page);
  return page;
}

/** Closes a page as the workbench expects; otherwise the extension host would run for hours. */
export async function closePage(page: Page): Promise<void> {
  if (!page.isClosed()) await page.goto('about:blank');
  await page.context().close();
}
