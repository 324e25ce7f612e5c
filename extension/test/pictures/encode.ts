// Small pictures: PNG with few colours, and moving ones as APNG.
import { decode, encode, toRGBA8 } from 'upng-js';

/** Number of colours: enough for text with smooth edges. */
const COLOURS = 64;

/** Makes a picture of few colours of screenshots; several are shown one after another, each for its milliseconds. */
export function encoded(screenshots: readonly Buffer[], delays: readonly number[] = []): Buffer {
  const all = screenshots.map((it) => decode(new Uint8Array(it).buffer));
  const [first] = all;
  if (first === undefined) throw new Error('a picture needs a screenshot');
  const pixels = all.flatMap(toRGBA8);
  const isMoving = delays.length > 0;
  return Buffer.from(encode(pixels, first.width, first.height, COLOURS, isMoving ? [...delays] : undefined));
}
