// Values of unknown type: of the wire, of a webview, of an argument.

/** Returns the fields of an object, with the message of an error; none for any other value. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Error) return { ...value, message: value.message };
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
