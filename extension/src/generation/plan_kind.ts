// What a JSON file is, by what it holds: the sidecar reads planning graphs and lists of tasks.
import { basename } from 'node:path';

/** `broken` cannot be read as JSON. */
export type PlanKind = 'graph' | 'tasks' | 'other' | 'broken';

/** Tells what a text is by its outermost keys, as the sidecar does. */
export function kindOf(text: string): PlanKind {
  const value = parsed(text);
  if (value === undefined) return 'broken';
  const { nodes, edges, hierarchy, entities, root, tasks } = fields(value);
  const isNested = isObject(hierarchy) && entities !== undefined;
  const isTree = isObject(root) && edges !== undefined;
  if (isNested || isTree || areNamed(nodes)) return 'graph';
  return areNamed(tasks) ? 'tasks' : 'other';
}

/** Whether a file may be of a kind: what is broken may, where its name says so. */
export function mayBe(kind: 'graph' | 'tasks', path: string, text: string): boolean {
  const found = kindOf(text);
  const name = basename(path).toLowerCase();
  return found === kind || (found === 'broken' && name.includes(kind === 'graph' ? 'rpg' : 'task'));
}

/** Nodes and tasks have ids; what else is called so, such as the tasks of an editor, has labels. */
function areNamed(list: unknown): boolean {
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
    // What is wrong with a file that was chosen, the sidecar says with line and column.
    return undefined;
  }
}
