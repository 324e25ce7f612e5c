// Rows of the picker for models.
import type { ModelChoice, ModelsOfProvider } from '../protocol';
import type { Translate } from '../translate';

export interface ModelItem {
  readonly label: string;
  readonly description: string;
  /** Name such as `openai:gpt-5-mini`; none to enter one. */
  readonly model?: string;
}

/** Makes the rows of a provider's models: the one in use first, a name to enter last. */
export function modelItems({ models }: ModelsOfProvider, current: string, t: Translate): ModelItem[] {
  const isCurrent = (it: ModelChoice) => it.model === current;
  const sorted = [...models.filter(isCurrent), ...models.filter((it) => !isCurrent(it))];
  const rows = sorted.map((it) => ({
    label: nameOf(it.model),
    description: [...(isCurrent(it) ? [t('in use')] : []), ...facts(it, t)].join(' · '),
    model: it.model,
  }));
  return [...rows, { label: t('Other…'), description: t('enter a name') }];
}

/** Returns the name without its provider. */
function nameOf(model: string): string {
  return model.slice(model.indexOf(':') + 1);
}

function facts({ label, inputUsd, outputUsd, contextTokens }: ModelChoice, t: Translate): string[] {
  const hasPrice = typeof inputUsd === 'number' && typeof outputUsd === 'number';
  return [
    ...(label ? [label] : []),
    ...(hasPrice ? [t('{0} in, {1} out per million tokens', dollars(inputUsd), dollars(outputUsd))] : []),
    ...(contextTokens ? [t('{0} tokens of context', thousands(contextTokens))] : []),
  ];
}

/** Returns a number of tokens as people name it: `200k`, `1M`. */
function thousands(tokens: number): string {
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${Number((tokens / 1_000_000).toFixed(1))}M`;
}

/** Returns an amount without digits that nobody reads, such as those of fractions in binary. */
function dollars(usd: number): string {
  return `$${Number(usd.toPrecision(4))}`;
}
