// Advice about errors in terms of the editor: hints of the sidecar are written for its command line, too.
import type { Translate } from '../translate';

/** The parts of an error that advice is made of. */
export interface HintedError {
  readonly kind?: string | undefined;
  /** Hint of the sidecar, with clauses divided by `;`. */
  readonly hint?: string | undefined;
}

export interface Advice {
  /** Phrases; left out if nothing is known to help. */
  readonly text?: string;
  /** Setting that the text names. */
  readonly setting?: string;
}

/** Makes the advice: the editor's own hint for the kind, else the sidecar's hint without its command-line clauses. */
export function adviceOf({ kind, hint = '' }: HintedError, t: Translate): Advice {
  const own = editorHint(kind, t);
  if (own !== undefined) return { text: own };
  const clauses = hint.split('; ').filter((it) => it !== '');
  const left = clauses.filter((it) => !mentionsCommandLine(it));
  const setting = settingIn(clauses.filter(mentionsCommandLine).join('; '));
  if (setting !== undefined) left.push(t('change the setting "{0}"', setting));
  const text = left.join('; ');
  return { ...(text === '' ? {} : { text }), ...(setting === undefined ? {} : { setting }) };
}

/** Returns the hint for kinds of errors that are resolved in the editor. */
function editorHint(kind: string | undefined, t: Translate): string | undefined {
  switch (kind) {
    case 'noModel':
      return t('Choose a model.');
    case 'noKey':
      return t("Set the provider's API key, or choose another model.");
    case 'untrusted':
      return t('Trust the folder, then try again.');
    case 'noFix':
      return t('Nothing was changed. Try again, or choose another model.');
    default:
      return undefined;
  }
}

/** Flags, commands, parameters and shell variables, which nobody types in the editor. */
const COMMAND_LINE_PATTERNS: readonly RegExp[] = [
  /(^|[\s`(])--[a-z]/,
  /`?\btrellis(\/[a-zA-Z]+| [a-z]+)/,
  /\bcargo\b/,
  /\b(TRELLIS|XDG|SSL)_[A-Z_]+|\bTMPDIR\b/,
  /`(at|batch|confirm|force|graph|hunks|in|jobs|model|name|out|plan|record|root|substring|memory|cores)`/,
  /`(accept|background|getFix|image|interpreter|listFixes|python|reject|timeout|worktree)`/,
  /`[a-z]+[A-Z][a-zA-Z]*`/,
];

function mentionsCommandLine(clause: string): boolean {
  return COMMAND_LINE_PATTERNS.some((it) => it.test(clause));
}

/** Settings for options of the command line and parameters. */
const SETTING_OF_OPTION: readonly (readonly [RegExp, string])[] = [
  [/\bbudget-?usd\b/i, 'trellis.budget.usd'],
  [/\bbudget-?tokens\b/i, 'trellis.budget.tokens'],
  [/\bbudget-?minutes\b/i, 'trellis.budget.minutes'],
  [/\b(test-?)?timeout\b/i, 'trellis.testTimeout'],
  [/\btests-?dir\b/i, 'trellis.testsFolder'],
  [/--approve\b|`approve`/, 'trellis.approve'],
  [/--python\b|`python`|interpreter/, 'trellis.interpreter'],
  [/--jobs\b|`jobs`/, 'trellis.jobs'],
  [/--model\b|`model`/, 'trellis.model'],
  [/--memory\b|`memory`/, 'trellis.allow.memory'],
  [/--pass-env\b/, 'trellis.allow.passEnv'],
];

function settingIn(text: string): string | undefined {
  return SETTING_OF_OPTION.find(([option]) => option.test(text))?.[1];
}

/** Replaces flags that a message names together with a setting by the setting alone. */
export function withSettingNames(message: string, t: Translate): string {
  const named = /`[^`]+`(?: in [\w.]+)? \(in the editor `([\w.]+)`\)/g;
  return message.replace(named, (_, setting: string) => t('the setting "{0}"', setting));
}
