// The workbench as a person sees and uses it.
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { pictures } from './lanes';
import { retryLimits } from './patience';
import { write } from './scratch';
import type { Server } from './server';

/** Id of the extension. */
export const extensionId = 'trellis.trellis';

/** Themes with the class of their kind. */
export const THEMES = [
  ['Default Dark Modern', 'vs-dark'],
  ['Default High Contrast', 'hc-black'],
  ['Default High Contrast Light', 'hc-light'],
  ['Default Light Modern', 'vs'],
] as const;

export class Workbench {
  constructor(
    readonly page: Page,
    private readonly server: Server,
  ) {}

  /** Opens a folder or a workspace file, and waits for its workbench. */
  async open(path: string): Promise<void> {
    const kind = path.endsWith('.code-workspace') ? 'workspace' : 'folder';
    await this.page.goto(`${this.server.url}/?${kind}=${encodeURIComponent(path)}`);
    await this.page.locator('.monaco-workbench').waitFor();
    await this.page.locator('.statusbar .statusbar-item').first().waitFor();
  }

  /** Opens a file by its name, as Ctrl+P does, and waits for its editor; retries once if the click is lost. */
  async openFile(path: string): Promise<void> {
    const name = basename(path).replaceAll(/[.[\]]/g, '\\$&');
    for (const bound of retryLimits()) {
      await this.page.keyboard.press('Control+P');
      await this.choose(path, new RegExp(`^${name}`));
      if (await appears(this.tab(new RegExp(`^${name}$`)).first(), bound))
        return await this.editor().waitFor();
      await this.page.keyboard.press('Escape');
    }
    throw new Error(`${path} was chosen in the list of files, and no editor shows it`);
  }

  /** Waits until the editor watches the open folder, which starts with a delay. */
  async watches(folder: string, shown: string): Promise<void> {
    // Existing files are listed, so that a new file is reported by a watcher.
    await this.treeItem(shown).first().waitFor();
    for (const bound of retryLimits()) {
      const probe = `probe-${Date.now()}`;
      write(join(folder, probe), '');
      const isSeen = await appears(this.treeItem(probe), bound);
      rmSync(join(folder, probe));
      // The editor may report a new file and its removal together, and keep the file in its list.
      if (isSeen) return;
    }
    throw new Error(`the editor does not see new files in ${folder}`);
  }

  /** Runs a command by its title, such as `Trellis: Show Output`, when the palette has it. */
  async command(title: string): Promise<void> {
    for (const bound of retryLimits()) {
      if (await this.offers(title, bound)) return await this.option(title).first().click();
      await this.page.keyboard.press('Escape');
      await this.input().waitFor({ state: 'hidden' });
    }
    throw new Error(`no command ${title} in the list of commands`);
  }

  /** Opens the palette; returns whether it has a command. It lists the commands of the time it was opened. */
  private async offers(title: string, bound: number): Promise<boolean> {
    await this.page.keyboard.press('F1');
    await this.input().fill(`>${title}`);
    return await appears(this.option(title).first(), bound);
  }

  /** Types into the open list, and chooses the entry that shows `entry`. */
  async choose(typed: string, entry: string | RegExp): Promise<void> {
    await this.input().fill(typed);
    await this.option(entry).first().click();
  }

  /** Answers the questions before a run: this graph, and the proposed folder. */
  async answerGenerate(graph: string): Promise<void> {
    const asked = (title: string) =>
      this.page.locator('.quick-input-widget:visible').filter({ hasText: title }).waitFor();
    await asked('Generate a repository from which planning graph?');
    await this.choose(graph, graph);
    await asked('Generate the repository in which folder?');
    await this.input().press('Enter');
  }

  /** Input of the open list. */
  input(): Locator {
    return this.page.locator('.quick-input-widget input[type="text"]:visible');
  }

  /** Entry of the open list. */
  option(entry: string | RegExp): Locator {
    return this.page.locator('.quick-input-list [role="option"]').filter({ hasText: entry });
  }

  tab(name: string | RegExp): Locator {
    return this.page.locator('.tabs-container .tab').filter({ hasText: name });
  }

  /** The active text editor. */
  editor(): Locator {
    return this.page.locator('.editor-instance .monaco-editor[role="code"]:visible').first();
  }

  /** Lines of the visible editors with a text. */
  line(text: string): Locator {
    return this.page.locator('.monaco-editor .view-line').filter({ hasText: text });
  }

  lens(title: string | RegExp): Locator {
    return this.page.locator('.codelens-decoration a').filter({ hasText: title });
  }

  /** Counts the pictures in the gutter, ours and others. */
  async gutterPictures(): Promise<number> {
    return await this.page
      .locator('.monaco-editor .glyph-margin-widgets > div')
      .evaluateAll((all) => all.filter((it) => getComputedStyle(it).backgroundImage.includes('url(')).length);
  }

  /** Waits for a number of pictures in the gutter. */
  async waitForGutter(count: number): Promise<void> {
    await this.page.waitForFunction((wanted) => {
      const all = [...document.querySelectorAll('.monaco-editor .glyph-margin-widgets > div')];
      return all.filter((it) => getComputedStyle(it).backgroundImage.includes('url(')).length === wanted;
    }, count);
  }

  statusItem(name: string): Locator {
    return this.page.locator(`[id="${extensionId}.${name}"]`);
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator('.notifications-toasts .notification-list-item').filter({ hasText: text });
  }

  /** Waits for a notification and hovers over it, which keeps it open. */
  async hold(notification: Locator): Promise<void> {
    await notification.waitFor();
    await notification.hover();
  }

  /** Button of one notification. */
  answer(notification: Locator, text: string): Locator {
    return notification.locator('.monaco-button').filter({ hasText: text });
  }

  /** Button of a notification or a dialog. */
  button(text: string | RegExp): Locator {
    return this.page.locator('.monaco-button:visible').filter({ hasText: text });
  }

  /** Shows a view container in the side bar. */
  async activity(title: string): Promise<void> {
    const entry = this.page.locator(`.activitybar .action-item a[aria-label^="${title}"]`);
    await entry.waitFor();
    const item = entry.locator('xpath=..');
    const shown = await item.getAttribute('class');
    // A badge lies above the entry: the click is one on both.
    if (!shown?.split(' ').includes('checked')) await item.click();
  }

  /** Row of a tree in the side bar. */
  treeItem(label: string | RegExp): Locator {
    return this.page.locator('.sidebar [role="treeitem"]').filter({ hasText: label });
  }

  /** Expands a row of a tree. */
  async expand(row: Locator): Promise<void> {
    if ((await row.getAttribute('aria-expanded')) === 'true') return;
    await row.locator('.monaco-tl-twistie').click();
  }

  /** File or folder in the Testing view. */
  testParent(name: string): Locator {
    return this.page.locator('.test-explorer [role="treeitem"][aria-expanded]').filter({ hasText: name });
  }

  /** Test in the Testing view with a state, such as `Passed`. */
  testItem(name: string, state: string): Locator {
    return this.page.locator(`.test-explorer [role="treeitem"][aria-label*="${name} (${state}"]`);
  }

  /** Page inside the visible webview. */
  webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  /** Rows of the visible output. */
  outputLine(text: string): Locator {
    return this.page.locator('.output-view .view-line').filter({ hasText: text });
  }

  /** Applies the quick fix with a title in a line, when the editor offers it. */
  async quickFix(line: string, title: string): Promise<void> {
    for (const bound of retryLimits()) {
      if (await this.fixable(line, title, bound)) return await this.page.keyboard.press('Enter');
      await this.page.keyboard.press('Escape');
      await this.page.locator('.action-widget').waitFor({ state: 'hidden' });
    }
    throw new Error(`no quick fix ${title} is offered`);
  }

  /** Opens the quick fixes of a line; returns whether a title is among them. Later ones are not added to the list. */
  private async fixable(line: string, title: string, bound: number): Promise<boolean> {
    // At the start of the line: the newer editor writes the message of a failed test over the end.
    await this.line(line)
      .first()
      .click({ position: { x: 50, y: 8 } });
    // The light bulb appears with the quick fixes, unless something else has taken the focus.
    const mark = this.page.locator('[class*="codicon-light-bulb"]:visible, [class*="lightbulb"]:visible');
    await appears(mark.first(), bound);
    await this.page.keyboard.press('Control+.');
    return await appears(this.page.locator('.action-widget').getByText(title).first(), bound);
  }

  /** Types at the end of a line with a text. */
  async typeAfter(line: string, text: string): Promise<void> {
    await this.line(line).first().click();
    await this.page.keyboard.press('End');
    await this.page.keyboard.type(text);
  }

  /** Describes the visible workbench, for the message of a failed test. */
  async seen(): Promise<string> {
    const parts = [
      this.texts('tabs', '.tabs-container .tab'),
      this.texts('lenses', '.codelens-decoration'),
      this.texts('list', '.quick-input-widget'),
      this.texts('notifications', '.notifications-toasts .notification-list-item'),
      this.texts('dialog', '.monaco-dialog-box'),
      this.texts('side bar', '.sidebar'),
      this.texts('status bar', '.statusbar'),
    ];
    return (await Promise.all(parts)).join('\n');
  }

  /** Lists all notifications, hidden ones included. */
  async allNotifications(): Promise<string> {
    await this.page.keyboard.press('Escape');
    await this.command('Notifications: Show Notifications');
    return await this.texts('all notifications', '.notifications-center .notification-list-item');
  }

  private async texts(what: string, selector: string): Promise<string> {
    const all = await this.page.locator(`${selector}:visible`).allInnerTexts();
    return `${what}: ${all.map((it) => it.replaceAll(/\s+/g, ' ').trim()).join(' | ')}`;
  }

  /** Saves a picture, `target/pictures/LANE/STATION.png`. */
  async picture(station: string): Promise<void> {
    const folder = pictures(this.server.lane);
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${station}.png`) });
  }

  /** Saves a picture in every theme, `STATION-KIND`, and one at 125 %; the settings of the folder choose the theme. */
  async pictures(station: string, folder: string, settings: object): Promise<void> {
    for (const theme of THEMES) {
      await this.theme(theme, folder, settings);
      await this.picture(`${station}-${theme[1]}`);
    }
    const size = this.page.viewportSize();
    if (size === null) return;
    const smaller = (length: number) => Math.round(length / 1.25);
    await this.page.setViewportSize({ width: smaller(size.width), height: smaller(size.height) });
    await this.picture(`${station}-125-percent`);
    await this.page.setViewportSize(size);
  }

  /** Shows the editor in a theme, by the settings of the folder. */
  async theme([theme, kind]: (typeof THEMES)[number], folder: string, settings: object): Promise<void> {
    const themed = { ...settings, 'workbench.colorTheme': theme };
    write(join(folder, '.vscode', 'settings.json'), JSON.stringify(themed));
    await this.page.locator(`.monaco-workbench.${kind}`).waitFor();
  }

  /** Saves a picture after a failure, and the server's output, as `failed-NAME`. */
  async failed(name: string): Promise<void> {
    await this.picture(`failed-${name}`);
    copyFileSync(this.server.log, join(pictures(this.server.lane), `failed-${name}.log`));
  }
}

/** Returns whether something appears within some milliseconds. */
export async function appears(shown: Locator, bound: number): Promise<boolean> {
  return await shown.waitFor({ timeout: bound }).then(
    () => true,
    () => false,
  );
}
