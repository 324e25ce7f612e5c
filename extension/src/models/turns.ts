// Conversations as the editor's models take them: turns of parts.
import type { ModelMessage } from './wire';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/**
 * The editor's models know no system: its words open the person's turn. Turns without any part are left out, and
 * neighbours of one role are one turn, since models take them in turn only.
 */
export function turns(messages: readonly ModelMessage[]): readonly Turn[] {
  const made: Turn[] = [];
  for (const message of messages) {
    const parts = partsOf(message);
    if (parts.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = made.at(-1);
    if (last?.role === role) made[made.length - 1] = { role, parts: joined(last.parts, parts) };
    else made.push({ role, parts });
  }
  return made;
}

/** Texts that follow each other are one, with a blank line between: nobody says how models read several. */
function joined(before: readonly Part[], after: readonly Part[]): readonly Part[] {
  const [last, first] = [before.at(-1), after[0]];
  if (last?.kind !== 'text' || first?.kind !== 'text') return [...before, ...after];
  const text = `${last.text}\n\n${first.text}`;
  return [...before.slice(0, -1), { kind: 'text', text }, ...after.slice(1)];
}

function partsOf({ text, toolCalls, toolResults }: ModelMessage): Part[] {
  const results = toolResults.map((it): Part => ({ kind: 'result', id: it.id, text: it.text }));
  const said: Part[] = text === '' ? [] : [{ kind: 'text', text }];
  const calls = toolCalls.map(
    (it): Part => ({ kind: 'call', id: it.id, name: it.name, input: it.arguments }),
  );
  return [...results, ...said, ...calls];
}

/** A model that an extension offers. */
export interface Offered {
  readonly id: string;
  readonly name: string;
  readonly family: string;
  readonly vendor: string;
}

/** The model of this name: by id, by `vendor/id`, else the first of that family or name; any where it is empty. */
export function named<M extends Offered>(models: readonly M[], name: string): M | undefined {
  if (name === '') return models[0];
  const ways: ((it: M) => boolean)[] = [
    (it) => it.id === name,
    (it) => `${it.vendor}/${it.id}` === name,
    (it) => it.family === name,
    (it) => it.name === name,
  ];
  for (const way of ways) {
    const found = models.find(way);
    if (found !== undefined) return found;
  }
  return undefined;
}
