// Encoding of texts so that any editor reads them right, and comparison with shown texts.

/** Byte order mark: says that a file is UTF-8, whatever encoding the person has set. */
const BOM = '\ufeff';

export function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(BOM + withoutBom(text));
}

/** Decodes bytes; `undefined` for another encoding. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // Without the mark, letters beyond ASCII may be of another encoding that is valid UTF-8 by chance.
    const isSure = text.startsWith(BOM) || [...bytes].every((it) => it < 0x80);
    return isSure ? withoutBom(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether an editor shows a text in this form; it changes line ends and leaves out the mark. */
export function isSameInEditor(text: string, shown: string): boolean {
  return normalized(text) === normalized(shown);
}

function normalized(text: string): string {
  return withoutBom(text).replaceAll(/\r\n?/g, '\n');
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(BOM.length) : text;
}
