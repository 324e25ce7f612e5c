// Sentences of fragments that the sidecar writes.

/** Begins a text with a capital letter. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Makes a sentence of a fragment. A name that it begins with, such as that of a file, stays as it is. */
export function sentence(text: string): string {
  const beginsWithWord = /^\p{Ll}+[\s,:;]/u.test(text);
  return withFullStop(beginsWithWord ? capitalized(text) : text);
}

export function withFullStop(text: string): string {
  return /[.!?…`]$/.test(text) ? text : `${text}.`;
}
