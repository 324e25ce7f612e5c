// Places of tests in the text of their file.

/** Finds the line, from 1, of the function of a test; `undefined` if the text does not define it. */
export function lineOfTest(text: string, id: string): number | undefined {
  const name = id.split('::').at(-1)?.replace(/\[.*$/s, '') ?? '';
  const isDefinition = (line: string) => /^\s*(async\s+)?def\s+/.test(line) && nameOf(line) === name;
  const at = text.split('\n').findIndex(isDefinition);
  return at < 0 ? undefined : at + 1;
}

function nameOf(line: string): string | undefined {
  return /def\s+(\w+)/.exec(line)?.[1];
}
