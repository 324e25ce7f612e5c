// Work that is waited for: of about a minute in a notification, of hours in the status bar alone.
import { type CancellationToken, ProgressLocation, window } from 'vscode';
import type { Begun } from '../protocol';
import type { MethodName, Params, Result, Sidecar } from './api';
import { Claim } from './claim';
import { plain } from './plain';

/** Methods that answer when their work has ended. */
type Working = { [M in MethodName]: Begun extends Result<M> ? M : never }[MethodName];
/** What the work of a method came to. */
type Ended<M extends Working> = Exclude<Result<M>, Begun>;

/**
 * Does work of about a minute: a notification shows the last line of its log below `title`, and can stop it.
 * @returns what it came to; rejects where the person stopped it
 */
export async function follow<M extends Working>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  title: string,
): Promise<Ended<M> | undefined> {
  const options = { location: ProgressLocation.Notification, title: plain(title), cancellable: true };
  return await window.withProgress(options, async (progress, token) => {
    const claim = new Claim(method.replace('trellis/', ''));
    const listening = sidecar.onEvent((event) => {
      if (claim.owns(event) && event.type === 'log')
        progress.report({ message: plain(event.message.trim()) });
    });
    try {
      return await ended(sidecar, method, params, token);
    } finally {
      listening.dispose();
      claim.dispose();
    }
  });
}

/**
 * Does work that may take hours: the status bar shows its job, and can stop it.
 * @param begun hears the id of the job
 * @returns as {@link follow}
 */
export async function work<M extends Working>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  begun: (job: string) => void = () => {},
): Promise<Ended<M> | undefined> {
  const claim = new Claim(method.replace('trellis/', ''), begun);
  const listening = sidecar.onEvent((event) => claim.owns(event));
  try {
    return await ended(sidecar, method, params);
  } finally {
    listening.dispose();
    claim.dispose();
  }
}

/** The other answer is that of work in the background, which nobody asks for here. */
async function ended<M extends Working>(
  sidecar: Sidecar,
  method: M,
  params: Params<M>,
  token?: CancellationToken,
): Promise<Ended<M> | undefined> {
  const answer: Result<M> = await sidecar.request(method, params, token);
  return isEnded<M>(answer) ? answer : undefined;
}

function isEnded<M extends Working>(answer: object): answer is Ended<M> {
  return !('job' in answer);
}
