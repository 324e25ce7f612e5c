// Work of the page of the graph is done once per frame.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { OncePerFrame } from '../../webview/once_per_frame';

/** Callbacks that wait for the next frame. */
const waiting = new Map<number, () => void>();
let last = 0;

function drawFrame(): void {
  const all = [...waiting.values()];
  waiting.clear();
  for (const it of all) it();
}

beforeEach(() => {
  waiting.clear();
  Object.assign(globalThis, {
    requestAnimationFrame: (work: () => void) => {
      last += 1;
      waiting.set(last, work);
      return last;
    },
    cancelAnimationFrame: (id: number) => waiting.delete(id),
  });
});
afterEach(() => {
  for (const it of ['requestAnimationFrame', 'cancelAnimationFrame']) Reflect.deleteProperty(globalThis, it);
});

function counted() {
  const it = { count: 0, work: new OncePerFrame(() => undefined) };
  it.work = new OncePerFrame(() => {
    it.count += 1;
  });
  return it;
}

test('several requests in one frame are one, and later ones another', () => {
  const it = counted();
  for (let at = 0; at < 5; at += 1) it.work.request();
  assert.equal(it.count, 0, 'it waits for the frame');
  drawFrame();
  assert.equal(it.count, 1);
  it.work.request();
  drawFrame();
  drawFrame();
  assert.equal(it.count, 2);
});

test('requested work can be done at once, and is not done again', () => {
  const it = counted();
  it.work.flush();
  assert.equal(it.count, 0, 'nothing was requested');
  it.work.request();
  it.work.flush();
  drawFrame();
  assert.equal(it.count, 1);
});
