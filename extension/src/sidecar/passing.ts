// Notifications that go away by themselves when they are past. The editor takes back none but those of progress, which
// have no buttons: what can be answered are links in their text.
import { commands, type Disposable, ProgressLocation, window } from 'vscode';
import { beforeLinks } from './plain';

export interface Passing {
  readonly text: string;
  /** What a person can answer. */
  readonly answers: readonly string[];
  /** Whether it can be put off. If not, the editor shows its first line only: keep it short. */
  readonly cancellable: boolean;
  /** When it is past; must not reject. */
  readonly past: Promise<unknown>;
  /** Whether something is under way meanwhile. */
  readonly working: boolean;
}

/** No command that a person could choose: what links lead to. */
const ANSWER = 'trellis.answer';

const waiting = new Map<number, (answer: number) => void>();
let last = 0;

/** To be called once, before anything is said. */
export function answering(): Disposable {
  return commands.registerCommand(ANSWER, (id: number, answer: number) => waiting.get(id)?.(answer));
}

/** Says it until it is answered or past; gives the answer, nothing where it was past or put off. */
export async function sayWhile(said: Passing): Promise<string | undefined> {
  const { text, answers, cancellable, past, working } = said;
  last += 1;
  const id = last;
  const answered = new Promise<number>((resolve) => waiting.set(id, resolve));
  const options = {
    location: ProgressLocation.Notification,
    title: [beforeLinks(text), ...links(id, answers)].join(' '),
    cancellable,
  };
  const chosen = await window.withProgress(options, (progress, token) => {
    // A bar that stands still, not one that runs.
    if (!working) progress.report({ increment: 0 });
    const putOff = new Promise((resolve) => token.onCancellationRequested(resolve));
    return Promise.race([answered, Promise.race([past, putOff]).then(() => undefined)]);
  });
  waiting.delete(id);
  return chosen === undefined ? undefined : answers[chosen];
}

function links(id: number, answers: readonly string[]): string[] {
  return answers.map((it, at) => {
    const given = encodeURIComponent(JSON.stringify([id, at]));
    return `[${it}](command:${ANSWER}?${given})`;
  });
}
