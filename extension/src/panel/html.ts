// Pieces of the pages: escaped text, and the frame around a page's content.

/** Escapes a text for content and quoted attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Escapes a text, and shows what stands between backticks as code. */
export function withCode(text: string): string {
  return escaped(text).replaceAll(/`([^`\n]+)`/g, '<code>$1</code>');
}

export interface PageFrame {
  readonly title: string;
  /** Random text that allows the page's own scripts and styles. */
  readonly nonce: string;
  /** Source of the page's files, by the editor. */
  readonly cspSource: string;
  /** Style sheets; later ones take precedence. */
  readonly styles: readonly string[];
  readonly script: string;
  /** More elements of the head. */
  readonly head?: string;
  readonly body: string;
}

/** Makes a page under a content policy that allows its own files only. */
export function pageHtml({ title, nonce, cspSource, styles, script, head = '', body }: PageFrame): string {
  const policy = `default-src 'none'; style-src ${cspSource} 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${head}
${styles.map((it) => `<link rel="stylesheet" href="${it}">`).join('\n')}
<title>${escaped(title)}</title>
</head>
<body>
${body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
