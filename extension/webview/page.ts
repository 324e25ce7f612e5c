// Elements, texts and state of the page of the graph.
import type { FromPage } from '../src/panel/graph_messages';

interface Editor {
  postMessage(message: FromPage): void;
  setState(state: View): void;
  getState(): Partial<View> | undefined;
}

/** State of the page: a hidden page is discarded, and restored from its state. */
export interface View {
  /** Output folder of the run, or the file of a plan. */
  readonly out: string;
  readonly zoom: number;
  readonly pan: { readonly x: number; readonly y: number };
  /** Whether the person has moved the picture; else it fills the window. */
  readonly isMoved: boolean;
  readonly chosen: string | undefined;
  /** Names of the open subgraphs. */
  readonly open: readonly string[];
}
declare function acquireVsCodeApi(): Editor;

interface Texts {
  readonly states: Record<string, string>;
  readonly needs: string;
  readonly node: string;
  readonly none: string;
  readonly found: string;
  readonly box: string;
  readonly openAll: string;
  readonly closeAll: string;
  readonly counts: string;
  readonly planned: string;
  readonly unlink: string;
  readonly example: string;
  readonly readOnly: string;
}

export const editor = acquireVsCodeApi();
export const texts: Texts = JSON.parse(element('texts', HTMLElement).textContent);

export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
}

/** Replaces `{0}`, `{1}`, … by the values. */
export function formatted(text: string, ...values: (string | number)[]): string {
  return text.replaceAll(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}
