// Kinds of JSON files by their content: the sidecar reads planning graphs and task lists.
import { basename } from 'node:path';

/** Kind of a JSON file; `broken` is no valid JSON. */
export type PlanKind = 'graph' | 'tasks' | 'other' | 'broken';

/** Recognizes the kind by the outermost keys, as the sidecar does. */
export function kindOf(text: string): PlanKind {
  const value = parsed(text);
  if (value === undefined) return 'broken';
  const { nodes, edges, hierarchy, entities, root, tasks } = fields(value);
  const isNested = isObject(hierarchy) && entities !== undefined;
  const isTree = isObject(root) && edges !== undefined;
  if (isNested || isTree || haveIds(nodes)) return 'graph';
  return haveIds(tasks) ? 'tasks' : 'other';
}

/** Returns whether a file may be of a kind; for a broken one the name decides. */
export function mayBe(kind: 'graph' | 'tasks', path: string, text: string): boolean {
  const found = kindOf(text);
  const name = basename(path).toLowerCase();
  return found === kind || (found === 'broken' && name.includes(kind === 'graph' ? 'rpg' : 'task'));
}

/** Recognizes nodes and tasks, which have ids; the tasks of editors have labels. */
function haveIds(list: unknown): boolean {
  return Array.isArray(list) && list.every((it) => isObject(it) && 'id' in it);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function fields(value: unknown): Record<string, unknown> {
  return isObject(value) ? { ...value } : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The sidecar reports errors of a chosen file with line and column.
    return undefined;
  }
}
