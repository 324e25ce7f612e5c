// Type of functions that put texts into the person's language.

/** Translates a text, with `{0}`, `{1}`, … replaced by the values; `l10n.t` in the editor. */
export type Translate = (text: string, ...values: (string | number)[]) => string;
