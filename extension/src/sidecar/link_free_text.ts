// Foreign text in notifications, where the editor makes links of `[text](command:…)`: text of a model, a graph or a
// repository must not offer a command of the editor.

/** Maximal number of characters in a notification. */
const MAX_LENGTH = 2_000;

/** Removes links from a text and shortens it. */
export function withoutLinks(text: string): string {
  const plain = text.replaceAll(/\](\s*)\(/g, '] $1(');
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain;
}
