// What the sidecar is told of the editor's settings: `Settings` of its `initializationOptions`.

export interface SidecarSettings {
  readonly trusted: boolean;
  readonly languageFeatures: 'auto' | 'on' | 'off';
  readonly otherLanguageServer: boolean;
  readonly codeLenses: boolean;
  readonly offerResume: boolean;
}

/** Reads one setting below `trellis`. */
export type Read = (name: string) => unknown;

/**
 * @param read the editor's settings
 * @param trusted whether the person trusts the workspace
 * @param otherServer whether another extension serves Python
 */
export function sidecarSettings(read: Read, trusted: boolean, otherServer: boolean): SidecarSettings {
  const features = read('languageFeatures');
  return {
    trusted,
    languageFeatures: features === 'on' || features === 'off' ? features : 'auto',
    otherLanguageServer: otherServer,
    // They are held back here, since marks in the gutter are made of them.
    codeLenses: true,
    // They are offered here, where offers can be taken back.
    offerResume: false,
  };
}

/** Extensions that answer definitions, references and renames in Python. */
export const OTHER_SERVERS: readonly string[] = [
  'ms-python.vscode-pylance',
  'ms-pyright.pyright',
  'detachhead.basedpyright',
  'astral-sh.ty',
  'meta.pyrefly',
  'anysphere.cursorpyright',
];
