// What to do about an error, in terms of the editor: the sidecar's hints are written for its command line, too.

/** What is known of an error. */
export interface Hinted {
  readonly kind?: string | undefined;
  /** The sidecar's own, whose clauses are divided by `;`. */
  readonly hint?: string | undefined;
}

export interface Advice {
  /** Phrases; none where nothing is known to help. */
  readonly text?: string;
  /** The setting that it names. */
  readonly setting?: string;
}

type Words = (message: string, ...values: string[]) => string;

/** Decides what is said: the editor's own hint of a kind, else what the sidecar says without its command line. */
export function adviceOf({ kind, hint = '' }: Hinted, words: Words): Advice {
  const own = ownHint(kind, words);
  if (own !== undefined) return { text: own };
  const clauses = hint.split('; ').filter((it) => it !== '');
  const left = clauses.filter((it) => !isOfCommandLine(it));
  const setting = settingIn(clauses.filter(isOfCommandLine).join('; '));
  if (setting !== undefined) left.push(words('change the setting "{0}"', setting));
  const text = left.join('; ');
  return { ...(text === '' ? {} : { text }), ...(setting === undefined ? {} : { setting }) };
}

/** Errors whose way out lies in the editor. */
function ownHint(kind: string | undefined, words: Words): string | undefined {
  switch (kind) {
    case 'noModel':
      return words('Choose a model.');
    case 'noKey':
      return words("Set the provider's API key, or choose another model.");
    case 'untrusted':
      return words('Trust the folder, then try again.');
    case 'noFix':
      return words('Nothing was changed. Try again, or choose another model.');
    default:
      return undefined;
  }
}

/** Flags, commands of ours and their parameters, variables of a shell: nothing that a person types in the editor. */
const COMMAND_LINE: readonly RegExp[] = [
  /(^|[\s`(])--[a-z]/,
  /`?\btrellis(\/[a-zA-Z]+| [a-z]+)/,
  /\bcargo\b/,
  /\b(TRELLIS|XDG|SSL)_[A-Z_]+|\bTMPDIR\b/,
  /`(at|batch|confirm|force|graph|hunks|in|jobs|model|name|out|plan|record|root|substring|memory|cores)`/,
  /`(accept|background|getFix|image|interpreter|listFixes|python|reject|timeout|worktree)`/,
  /`[a-z]+[A-Z][a-zA-Z]*`/,
];

function isOfCommandLine(clause: string): boolean {
  return COMMAND_LINE.some((it) => it.test(clause));
}

/** Options of the command line and parameters that are settings here. */
const SETTINGS: readonly (readonly [RegExp, string])[] = [
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
  return SETTINGS.find(([option]) => option.test(text))?.[1];
}

/** A message that names a flag with the setting for it, as the sidecar does, with the setting alone. */
export function inSettings(message: string, words: Words): string {
  const named = /`[^`]+`(?: in [\w.]+)? \(in the editor `([\w.]+)`\)/g;
  return message.replace(named, (_, setting: string) => words('the setting "{0}"', setting));
}
