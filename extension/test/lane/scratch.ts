// The folder of a server, with the files of a person.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Scratch {
  readonly root: string;
  readonly userData: string;
  readonly extensions: string;
  /** Home directory of the person. */
  readonly home: string;
  remove(): void;
}

/** Settings against greetings, questions and network access of an editor. */
const settled = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'git.enabled': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  // A diff that was open would be found before its file.
  'search.quickOpen.includeHistory': false,
  // Earlier views may take the focus late on a busy machine.
  'workbench.quickOpen.closeOnFocusLost': false,
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
};

export function scratch(settings: Readonly<Record<string, unknown>>): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'trellis-editor-'));
  const at = { root, userData: join(root, 'ud'), extensions: join(root, 'ext'), home: join(root, 'home') };
  for (const it of [at.extensions, at.home]) mkdirSync(it);
  // Machine settings, such as paths of programs, apply from the second file only if the editor is remote.
  for (const it of ['User', 'Machine'])
    write(join(at.userData, it, 'settings.json'), JSON.stringify({ ...settled, ...settings }, null, 2));
  return { ...at, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Writes a file, and creates its folders. */
export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
