// Values of unknown type: of the wire, of a webview, of an argument.

/** Returns the fields of an object, with the message of an error; none for any other value. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Error) return { ...value, message: value.message };
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Begins a text with a capital letter. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
