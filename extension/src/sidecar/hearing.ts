// Which of all that is told belongs to one piece of work.
import type { Event as TrellisEvent } from '../protocol';

/** Takes the first job of a method that begins for its own: tells its id, then each line of its log. */
export function hearing(
  method: string,
  begun: (job: string) => void,
  say: (line: string) => void,
): (event: TrellisEvent) => void {
  const own = { method: method.replace('trellis/', ''), job: '' };
  return (event) => {
    if (event.type === 'job' && event.method === own.method && event.state === 'running' && own.job === '') {
      own.job = event.job;
      begun(event.job);
    }
    if (event.type === 'log' && event.job === own.job) say(event.message);
  };
}
