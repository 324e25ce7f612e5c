// Settings of the editor that the sidecar knows: `Settings` of its `initializationOptions`.

export interface ServerSettings {
  readonly trusted: boolean;
  readonly languageFeatures: 'auto' | 'on' | 'off';
  readonly otherLanguageServer: boolean;
  readonly codeLenses: boolean;
  /** Whether tests of JavaScript, TypeScript and Go have lenses, for which the sidecar reads their documents. */
  readonly testLenses: boolean;
  readonly offerResume: boolean;
}

/** Reads one setting below `trellis`. */
export type ReadSetting = (name: string) => unknown;

/**
 * @param read the editor's settings
 * @param trusted whether the person trusts the workspace
 * @param otherServer whether another extension serves Python
 */
export function serverSettings(read: ReadSetting, trusted: boolean, otherServer: boolean): ServerSettings {
  const features = read('languageFeatures');
  return {
    trusted,
    languageFeatures: features === 'on' || features === 'off' ? features : 'auto',
    otherLanguageServer: otherServer,
    // The extension filters lenses itself, since gutter marks are made of them.
    codeLenses: true,
    testLenses: read('codeLens.tests') === true,
    // The extension offers stopped runs itself, since it can withdraw an offer.
    offerResume: false,
  };
}

/** Extensions that answer definitions, references and renames in Python. */
export const OTHER_LANGUAGE_SERVERS: readonly string[] = [
  'ms-python.vscode-pylance',
  'ms-pyright.pyright',
  'detachhead.basedpyright',
  'astral-sh.ty',
  'meta.pyrefly',
  'anysphere.cursorpyright',
];
