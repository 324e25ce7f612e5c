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

/** Of all files those that are wanted, in order; throws where nothing is. */
export function selected(files, { short = false, named = '' }) {
  const wanted = files.filter((it) => (!short || SHORT.includes(nameOf(it))) && nameOf(it).includes(named));
  if (wanted.length === 0)
    throw new Error(`no test file${short ? ' of the short lane' : ''} is called *${named}*`);
  return wanted.sort((one, other) => ORDER.indexOf(nameOf(one)) - ORDER.indexOf(nameOf(other)));
}
