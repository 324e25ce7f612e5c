// Kinds of JSON files by their content: the sidecar reads planning graphs and task lists.

import { basename } from 'node:path';
import { fields } from '../unknown_value';

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

/**
 * Recognizes a kind beyond doubt, for what is shown without being asked for: other programs have nodes with ids, and
 * lists of tasks, too.
 */
export function certainKindOf(text: string): PlanKind {
  const kind = kindOf(text);
  if (kind !== 'graph' && kind !== 'tasks') return kind;
  const { nodes, tasks, hierarchy, root, repo_name } = fields(parsed(text));
  if (kind === 'tasks') return haveField(tasks, TASK_FIELDS) ? kind : 'other';
  const isWhole = isObject(hierarchy) || isObject(root) || typeof repo_name === 'string';
  return isWhole || haveField(nodes, NODE_FIELDS) ? kind : 'other';
}

/** Fields of which some nodes of a plan have one. */
const NODE_FIELDS = ['node_type', 'file_path', 'subgraph_id', 'signature', 'docstring'];
/** Fields of which some tasks have one. */
const TASK_FIELDS = ['description', 'depends_on', 'implementation_details', 'story_points'];

function haveField(list: unknown, names: readonly string[]): boolean {
  return Array.isArray(list) && list.some((it) => isObject(it) && names.some((name) => name in it));
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The sidecar reports errors of a chosen file with line and column.
    return undefined;
  }
}
