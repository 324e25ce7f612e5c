// The page of a node: shows the content that the extension makes, and reports clicks.
declare function acquireVsCodeApi(): {
  postMessage(message: { readonly action: string; readonly id?: string }): void;
  setState(state: unknown): void;
};

const editor = acquireVsCodeApi();
const main = document.getElementById('node');
if (main === null) throw new Error('the page has no content');
let shown = '';

window.addEventListener('message', ({ data }: MessageEvent<{ html: string; state: unknown }>) => {
  editor.setState(data.state);
  const key = JSON.stringify(data.state);
  if (key === shown) update(data.html);
  else main.innerHTML = data.html;
  if (key !== shown) window.scrollTo(0, 0);
  shown = key;
});

main.addEventListener('click', ({ target }) => {
  const clicked = target instanceof Element ? target.closest<HTMLElement>('[data-action]') : null;
  const { action, id } = clicked?.dataset ?? {};
  if (action !== undefined) editor.postMessage(id === undefined ? { action } : { action, id });
});

editor.postMessage({ action: 'ready' });

/** Replaces the content; what is open, focused and in sight stays. */
function update(html: string): void {
  if (main === null) return;
  const next = document.createElement('main');
  next.innerHTML = html;
  if (next.innerHTML === main.innerHTML) return;
  const focus = focused();
  const open = details().map((it) => it.open);
  const { scrollX, scrollY } = window;
  main.replaceChildren(...next.childNodes);
  details().forEach((it, at) => {
    if (open[at] !== undefined) it.open = open[at];
  });
  if (focus !== undefined) main.querySelector<HTMLElement>(focus)?.focus({ preventScroll: true });
  window.scrollTo(scrollX, scrollY);
}

function details(): HTMLDetailsElement[] {
  return [...(main?.querySelectorAll('details') ?? [])];
}

/** Returns a selector of the action that has the focus. */
function focused(): string | undefined {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement)) return undefined;
  const { action, id } = activeElement.dataset;
  if (action === undefined) return undefined;
  const own = id === undefined ? ':not([data-id])' : `[data-id=${JSON.stringify(id)}]`;
  return `[data-action="${action}"]${own}`;
}
