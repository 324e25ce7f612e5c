// Conversations in the form of the editor's models: turns with parts.
import type { ModelMessage } from './model_messages';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/**
 * Converts messages. The editor's models have no system role: its text becomes part of the user's turn. Empty turns
 * are left out, and adjacent turns of one role are joined, since roles have to alternate.
 */
export function toTurns(messages: readonly ModelMessage[]): readonly Turn[] {
  const made: Turn[] = [];
  for (const message of messages) {
    const parts = partsOf(message);
    if (parts.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = made.at(-1);
    if (last?.role === role) made[made.length - 1] = { role, parts: joinParts(last.parts, parts) };
    else made.push({ role, parts });
  }
  return made;
}

/** Joins parts; adjacent texts become one text with a blank line, since models differ in how they read several. */
function joinParts(before: readonly Part[], after: readonly Part[]): readonly Part[] {
  const [last, first] = [before.at(-1), after[0]];
  if (last?.kind !== 'text' || first?.kind !== 'text') return [...before, ...after];
  const text = `${last.text}\n\n${first.text}`;
  return [...before.slice(0, -1), { kind: 'text', text }, ...after.slice(1)];
}

function partsOf({ text, toolCalls, toolResults }: ModelMessage): Part[] {
  const results = toolResults.map((it): Part => ({ kind: 'result', id: it.id, text: it.text }));
  const texts: Part[] = text === '' ? [] : [{ kind: 'text', text }];
  const calls = toolCalls.map(
    (it): Part => ({ kind: 'call', id: it.id, name: it.name, input: it.arguments }),
  );
  return [...results, ...texts, ...calls];
}

/** A model of an extension. */
export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  readonly family: string;
  readonly vendor: string;
}

/** Finds a model by id, by `vendor/id`, by family, or by name; the first one for an empty name. */
export function findModel<M extends ModelInfo>(models: readonly M[], name: string): M | undefined {
  if (name === '') return models[0];
  const matchers: ((it: M) => boolean)[] = [
    (it) => it.id === name,
    (it) => `${it.vendor}/${it.id}` === name,
    (it) => it.family === name,
    (it) => it.name === name,
  ];
  for (const way of matchers) {
    const found = models.find(way);
    if (found !== undefined) return found;
  }
  return undefined;
}
