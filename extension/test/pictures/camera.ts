// Pictures of the workbench for README and walkthrough.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { wanted } from '../lane/lanes';
import { limits } from '../lane/patience';
import { THEMES, type Workbench } from '../lane/workbench';
import { encoded } from './encode';

const folder = join(wanted('TRELLIS_EXTENSION'), 'media', 'pictures');

/** Size of a window. */
export interface View {
  readonly width: number;
  readonly height: number;
  /** Height of the upper part that is in the picture, if not all of it is. */
  readonly cut?: number;
}

/** Windows of most pictures of the README, and of the walkthrough. */
export const PAGE: View = { width: 1000, height: 560 };
export const STEP: View = { width: 640, height: 430 };

/** Names of the kinds of themes in the names of the pictures. */
const KINDS = { vs: 'light', 'vs-dark': 'dark', 'hc-black': 'hc', 'hc-light': 'hc-light' } as const;

/** Settings against everything that a picture does not need. */
export const UNCLUTTERED = {
  'window.commandCenter': false,
  'window.menuBarVisibility': 'hidden',
  'workbench.layoutControl.enabled': false,
  'workbench.editor.useModal': 'off',
  'workbench.navigationControl.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.hover.delay': 600_000,
  'editor.hover.delay': 10_000,
  'breadcrumbs.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'editor.cursorBlinking': 'solid',
  // What fits is not scrolled.
  'editor.scrollBeyondLastLine': false,
  'editor.stickyScroll.enabled': false,
  'editor.lightbulb.enabled': 'off',
  'testing.automaticallyOpenTestResults': 'neverOpen',
  'testing.automaticallyOpenPeekView': 'never',
};

/** Settings of an open window: an opened one is recognised by its status bar. */
const OPENED = { 'workbench.statusBar.visible': false };
/** Settings of a part of a window. */
const PART = { ...OPENED, 'workbench.activityBar.location': 'hidden' };

/** Place of what is not shown. */
export const NOWHERE = { x: 0, y: 0, width: 0, height: 0 };
const LIGHT = ['Default Light Modern', 'vs'] as const;

export class Camera {
  private constructor(
    private readonly workbench: Workbench,
    private readonly root: string,
  ) {}

  /** Opens a folder without notifications, and makes a camera for it. */
  static async opened(workbench: Workbench, root: string): Promise<Camera> {
    await workbench.open(root);
    await workbench.command('Notifications: Toggle Do Not Disturb Mode');
    const camera = new Camera(workbench, root);
    await camera.light();
    return camera;
  }

  /** Changes the size of the window. */
  async look({ width, height }: View): Promise<void> {
    await this.workbench.page.setViewportSize({ width, height });
  }

  /** Saves pictures for the README: light and dark. */
  async page(name: string, view = PAGE): Promise<void> {
    await this.themed(name, ['vs', 'vs-dark'], view, OPENED);
  }

  /** Saves pictures for a step of the walkthrough, without bars: in every kind of theme. */
  async step(name: string, view = STEP): Promise<void> {
    await this.themed(`step-${name}`, Object.keys(KINDS), view, PART);
  }

  /** Hides the bars, as in pictures of steps. */
  async hideBars(): Promise<void> {
    await this.workbench.theme(LIGHT, this.root, PART);
  }

  private async themed(name: string, kinds: readonly string[], view: View, settings: object): Promise<void> {
    for (const theme of THEMES.filter(([, kind]) => kinds.includes(kind))) {
      await this.workbench.theme(theme, this.root, settings);
      // Removed lines of a difference keep the colours of the earlier theme until the editor draws them again.
      await this.look({ ...view, width: view.width + 900 });
      await this.screenshot();
      await this.look(view);
      save(`${name}-${KINDS[theme[1]]}`, encoded([await this.screenshot(view)]));
    }
    await this.light();
  }

  private async light(): Promise<void> {
    await this.workbench.theme(LIGHT, this.root, OPENED);
  }

  /** Takes a picture once nothing moves. */
  async screenshot(view?: View): Promise<Buffer> {
    const { page } = this.workbench;
    await page.locator('.notifications-toasts .notification-list-item').waitFor({ state: 'detached' });
    const end = Date.now() + limits.page;
    for (let last = await take(page, view), same = 0; ; ) {
      const next = await take(page, view);
      same = next.equals(last) ? same + 1 : 0;
      if (same === 3) return next;
      if (Date.now() > end) throw new Error('the window does not come to rest');
      last = next;
    }
  }
}

/** Saves a picture. */
export function save(name: string, picture: Buffer): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), picture);
  console.error(`${name}.png: ${Math.ceil(picture.length / 1000)} kB`);
}

/** Moves the mouse out of the window: all of it reacts to a mouse. */
export async function away({ page }: Workbench): Promise<void> {
  await page.mouse.move(-9, -9);
}

/** Hides the side bar, or shows it again. */
export async function toggleSideBar(workbench: Workbench): Promise<void> {
  await workbench.command('View: Toggle Primary Side Bar Visibility');
}

/** Makes the side bar wider. */
export async function widenSideBar({ page }: Workbench, by: number): Promise<void> {
  const { x, y, width, height } = (await page.locator('.part.sidebar').boundingBox()) ?? NOWHERE;
  await page.mouse.move(x + width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width + by, y + height / 2, { steps: 5 });
  await page.mouse.up();
}

/** Clicks, and leaves. */
export async function click(workbench: Workbench, target: Locator): Promise<void> {
  await target.click();
  await away(workbench);
}

async function take(page: Page, view?: View): Promise<Buffer> {
  const { width, cut } = view ?? {};
  const clip = width === undefined || cut === undefined ? {} : { clip: { x: 0, y: 0, width, height: cut } };
  return await page.screenshot(clip);
}
