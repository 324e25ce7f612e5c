// Texts as bytes that any editor reads right, and texts as editors show them.

/** It says that bytes are UTF-8, whatever encoding a person prefers for files. */
const MARK = '\ufeff';

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(MARK + unmarked(text));
}

/** None of bytes in another encoding. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // Letters beyond ASCII without the mark may be of another encoding that happens to look like this one.
    const isSure = text.startsWith(MARK) || [...bytes].every((it) => it < 0x80);
    return isSure ? unmarked(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an editor shows this text, of which it changes line ends and leaves out the mark. */
export function isShownAs(text: string, shown: string): boolean {
  return plain(text) === plain(shown);
}

function plain(text: string): string {
  return unmarked(text).replaceAll(/\r\n?/g, '\n');
}

function unmarked(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
