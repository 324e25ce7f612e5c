// Text of others before it is shown where the editor makes links of `[words](command:…)`: what a model, a graph or a
// repository says may not put a command of the editor under a person's mouse.

/** Characters of a notification that are shown. */
const LONGEST = 2_000;

/** The same words without a link in them, cut where nobody would read on. */
export function plain(text: string): string {
  const words = text.replaceAll(/\](\s*)\(/g, '] $1(');
  return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
}

/** The same before a link of ours: a bracket that stays open would make its words part of that link. */
export function beforeLinks(text: string): string {
  const words = plain(text);
  return words.lastIndexOf('[') > words.lastIndexOf(']') ? `${words}]` : words;
}
