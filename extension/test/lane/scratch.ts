// A folder of a server's own, and what a person would have in it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Scratch {
  readonly root: string;
  readonly userData: string;
  readonly extensions: string;
  /** Home of whoever sits before the editor. */
  readonly home: string;
  remove(): void;
}

/** What keeps an editor from greeting, asking and reaching out. */
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
  // A difference that was open would be found before the file that it is about.
  'search.quickOpen.includeHistory': false,
  // What was shown before may take the focus late, where the machine has much to do.
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
  // Settings of the machine, such as paths of programs, count from the second alone where the editor is remote.
  for (const it of ['User', 'Machine'])
    write(join(at.userData, it, 'settings.json'), JSON.stringify({ ...settled, ...settings }, null, 2));
  return { ...at, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Writes a file, with the folders it needs. */
export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
