// Which files of tests a lane runs, and in which order.
import { basename } from 'node:path';

/**
 * Files that are enough in an editor where another editor runs all: the extension host, the first start, a run with its nodes
 * and their picture, an approval.
 */
const SHORT = ['first', 'host', 'folders', 'approval'];

/** Files in the order in which they begin, those first that take longest; a file that is not named here goes before them. */
const ORDER = [
  'day',
  'nodes',
  'fixes',
  'approval',
  'first',
  'drafts',
  'life',
  'tasks',
  'folders',
  'implement',
  'trust',
  'repair',
  'model',
  'host',
];

/** Name of a file of tests, as people call it. */
export const nameOf = (file) => basename(file, '.test.js');

/** Of all files those that are wanted, in order; none where only another lane has what is named. Throws where no lane has it. */
export function selected(files, { short = false, named = '' }) {
  const known = files.filter((it) => nameOf(it).includes(named));
  if (known.length === 0) throw new Error(`no test file is called *${named}*`);
  const wanted = known.filter((it) => !short || SHORT.includes(nameOf(it)));
  return wanted.sort((one, other) => ORDER.indexOf(nameOf(one)) - ORDER.indexOf(nameOf(other)));
}
