// The moving picture: a failing function, its proven fix, and the click that accepts it.
import type { Locator } from 'playwright-core';
import type { Session } from '../lane/session';
import type { Workbench } from '../lane/workbench';
import { Camera, NOWHERE, save, toggleSideBar } from './camera';
import { encoded } from './encode';
import { shop } from './shop';

const VIEW = { width: 800, height: 430 };

/** Takes frames, each with the milliseconds that it is shown. */
class Film {
  private readonly frames: { picture: Buffer; delay: number }[] = [];

  constructor(
    private readonly workbench: Workbench,
    private readonly camera: Camera,
  ) {}

  async frame(delay: number): Promise<void> {
    this.frames.push({ picture: await this.camera.screenshot(), delay });
  }

  /** Points at something, and then clicks it. */
  async click(target: Locator): Promise<void> {
    await this.point(target);
    await this.frame(900);
    await target.click();
  }

  /** Shows the pointer, which pictures of a browser lack. */
  async point(target: Locator): Promise<void> {
    const { x, y, width, height } = (await target.boundingBox()) ?? NOWHERE;
    await target.hover();
    await this.workbench.page.evaluate(drawPointer, { x: x + width / 2, y: y + height - 4 });
  }

  save(name: string): void {
    save(
      name,
      encoded(
        this.frames.map((it) => it.picture),
        this.frames.map((it) => it.delay),
      ),
    );
  }
}

export async function moving({ server, workbench }: Session): Promise<void> {
  const camera = await Camera.opened(workbench, shop(server.scratch.root));
  await camera.look(VIEW);
  await workbench.openFile('shop/cart.py');
  await toggleSideBar(workbench);
  await camera.hideBars();
  const film = new Film(workbench, camera);
  await film.point(workbench.line('def price_of').first());
  await workbench.lens(/^Run$/).nth(1).waitFor();
  await film.click(workbench.lens(/^Run$/).nth(1));
  await workbench.lens('✗ 1 of 3 failed').waitFor();
  await film.frame(1200);
  await film.click(workbench.lens('✗ 1 of 3 failed'));
  const peek = workbench.page.locator('.peekview-widget');
  await peek.waitFor();
  await workbench.page.getByText('Fix Failing Test', { exact: true }).first().waitFor();
  await film.frame(1800);
  await film.click(workbench.page.getByText('Fix Failing Test', { exact: true }).first());
  await workbench.tab('cart.py (fix-1)').waitFor();
  await workbench.lens('Proven small edit, no model asked').waitFor();
  await film.frame(2000);
  await film.click(workbench.lens(/^.?.?Accept$/));
  await workbench.tab('cart.py (fix-1)').waitFor({ state: 'detached' });
  // The test that failed is behind the difference.
  await workbench.page.locator('.glyph-margin-widgets .codicon-testing-passed-icon').nth(3).waitFor();
  await film.frame(1500);
  await film.click(workbench.tab(/^cart\.py$/));
  await workbench.lens('✓ 3 passed').waitFor();
  await film.frame(2500);
  film.save('accept-fix');
}

/** Draws the pointer into the page, at a place. */
function drawPointer({ x, y }: { x: number; y: number }): void {
  const id = 'picture-pointer';
  const svg = 'http://www.w3.org/2000/svg';
  let pointer = document.getElementById(id);
  if (pointer === null) {
    pointer = document.createElement('div');
    pointer.id = id;
    Object.assign(pointer.style, { position: 'fixed', zIndex: '999999', pointerEvents: 'none' });
    const picture = document.createElementNS(svg, 'svg');
    picture.setAttribute('width', '16');
    picture.setAttribute('height', '24');
    const arrow = document.createElementNS(svg, 'path');
    arrow.setAttribute('d', 'M1 1 L1 18 L5 14 L8 21 L11 20 L8 13 L14 13 Z');
    arrow.setAttribute('fill', 'black');
    arrow.setAttribute('stroke', 'white');
    picture.append(arrow);
    pointer.append(picture);
    document.body.append(pointer);
  }
  Object.assign(pointer.style, { left: `${x}px`, top: `${y}px` });
}
