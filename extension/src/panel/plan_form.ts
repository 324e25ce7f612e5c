// Messages between the form of a planned node and the extension.
import type { NodeFields, PlanChange, PlanNodeResult } from '../protocol';
import { fields } from '../unknown_value';

/** What the form shows of a node. */
export type FormNode = Omit<PlanNodeResult, 'problems' | 'libraries'>;

/** Messages to the form. */
export type ToForm =
  /** A node, or none if it is gone; `keep` leaves the person's input as it is. */
  | { readonly type: 'form'; readonly node: FormNode | undefined; readonly problems: readonly string[] }
  /** Problems that the input would make. */
  | { readonly type: 'tried'; readonly id: string; readonly problems: readonly string[] }
  /** An edit that was refused. */
  | { readonly type: 'refused'; readonly id: string; readonly text: string };

/** Messages from the form. */
export type FromForm = {
  /** `try` shows the problems of edits, `edit` makes them. */
  readonly type: 'try' | 'edit';
  readonly id: string;
  readonly edits: readonly PlanChange[];
};

/** Reads a message of the form; `undefined` for others. */
export function parseForm(message: unknown): FromForm | undefined {
  const { type, id, edits } = fields(message);
  if ((type !== 'try' && type !== 'edit') || typeof id !== 'string' || !Array.isArray(edits))
    return undefined;
  return { type, id, edits: edits.flatMap((it) => changeOf(fields(it)) ?? []) };
}

type Values = Readonly<Record<string, unknown>>;

/** Reads an edit; the sidecar checks what it says. */
function changeOf({
  operation,
  node,
  name,
  needed,
  withParts,
  fields: own,
  remove,
}: Values): PlanChange | undefined {
  if (typeof node !== 'string') return undefined;
  switch (operation) {
    case 'remove':
      return { operation, node, withParts: withParts === true };
    case 'rename':
      return typeof name === 'string' ? { operation, node, name } : undefined;
    case 'link':
    case 'unlink':
      return typeof needed === 'string' ? { operation, node, needed } : undefined;
    case 'set':
      return { operation, node, fields: fieldsOf(fields(own)), remove: removedOf(remove) };
    default:
      return undefined;
  }
}

function fieldsOf({ signature, docstring, examples }: Values): NodeFields {
  return {
    ...(typeof signature === 'string' ? { signature } : {}),
    ...(typeof docstring === 'string' ? { docstring } : {}),
    ...(Array.isArray(examples) ? { examples: examples.map(String) } : {}),
  };
}

function removedOf(remove: unknown) {
  const names = ['signature', 'docstring', 'examples'] as const;
  return Array.isArray(remove) ? names.filter((it) => remove.includes(it)) : [];
}

/** Input of the form. */
export interface FormInput {
  readonly name: string;
  readonly signature: string;
  readonly docstring: string;
  readonly examples: readonly string[];
}

/** Whether a field shows a text: it has only line feeds. */
export function isShownAs(text: string, shown: string): boolean {
  return text.replaceAll('\r\n', '\n') === shown.replaceAll('\r\n', '\n');
}

/** Returns the edits that make a node as the input says. The rename comes last, since it may change the id. */
export function editsOf(node: FormNode, input: FormInput): PlanChange[] {
  const examples = input.examples.map((it) => it.trim()).filter((it) => it !== '');
  const changed = {
    ...(isShownAs(node.signature ?? '', input.signature) ? {} : { signature: input.signature }),
    ...(isShownAs(node.docstring ?? '', input.docstring) ? {} : { docstring: input.docstring }),
    ...(isShownAs(node.examples.map((it) => it.trim()).join('\0'), examples.join('\0')) ? {} : { examples }),
  };
  const set = Object.entries(changed).filter(([, it]) => it.length > 0);
  const remove = removedOf(Object.entries(changed).flatMap(([name, it]) => (it.length > 0 ? [] : [name])));
  const sets: PlanChange = { operation: 'set', node: node.id, fields: Object.fromEntries(set), remove };
  const rename: PlanChange = { operation: 'rename', node: node.id, name: input.name.trim() };
  const isRenamed = rename.name !== '' && rename.name !== node.name;
  return [...(Object.keys(changed).length > 0 ? [sets] : []), ...(isRenamed ? [rename] : [])];
}
