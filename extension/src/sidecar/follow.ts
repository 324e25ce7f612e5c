// Long work that is waited for: a notification says how it goes, and can stop it.
import { ProgressLocation, window } from 'vscode';
import type { Begun } from '../protocol';
import type { MethodName, Params, Result, Sidecar } from './api';
import { hearing } from './hearing';
import { plain } from './plain';

/** Methods that answer when their work has ended. */
type Working = { [M in MethodName]: Begun extends Result<M> ? M : never }[MethodName];
/** What the work of a method came to. */
type Ended<M extends Working> = Exclude<Result<M>, Begun>;

/**
 * Shows the last line of the work's log below `title`.
 * @param begun hears the id of the job
 * @returns what it came to; rejects where the person stopped it
 */
export async function follow<M extends Working>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  title: string,
  begun: (job: string) => void = () => {},
): Promise<Ended<M> | undefined> {
  const options = { location: ProgressLocation.Notification, title: plain(title), cancellable: true };
  return await window.withProgress(options, async (progress, token) => {
    const say = (message: string) => progress.report({ message: plain(message.trim()) });
    const listening = sidecar.onEvent(hearing(method, begun, say));
    try {
      const answer: Result<M> = await sidecar.request(method, params, token);
      return isEnded<M>(answer) ? answer : undefined;
    } finally {
      listening.dispose();
    }
  });
}

/** The other answer is that of work in the background, which nobody asks for here. */
function isEnded<M extends Working>(answer: object): answer is Ended<M> {
  return !('job' in answer);
}
