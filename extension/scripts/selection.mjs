// Selection and order of a lane's test files.
import { basename } from 'node:path';

/** Files that suffice for an editor if another editor runs all: the extension host and the first start. */
const SHORT = ['first', 'host'];

/** Files that run only if all are wanted, or named: other languages, and views that change seldom. */
const WHOLE = ['drafts', 'languages', 'pictures', 'plan_edits', 'plans', 'previews', 'renames'];

/** Files in the order of their start, the longest first; other files come before them. */
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

/** Returns the short name of a test file. */
export const nameOf = (file) => basename(file, '.test.js');

/** Returns the selected files in order; none if only another lane has the named ones. Throws if no lane has them. */
export function selected(files, { short = false, whole = false, named = '' }) {
  const known = files.filter((it) => nameOf(it).includes(named));
  if (known.length === 0) throw new Error(`no test file is called *${named}*`);
  const isWanted = (name) => (short ? SHORT.includes(name) : whole || named !== '' || !WHOLE.includes(name));
  const wanted = known.filter((it) => isWanted(nameOf(it)));
  return wanted.sort((one, other) => ORDER.indexOf(nameOf(one)) - ORDER.indexOf(nameOf(other)));
}
