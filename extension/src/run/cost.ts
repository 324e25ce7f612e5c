// What a run has cost, and what it may cost: values, and the words for them.

import type { GenerateParams, StatusResult, TasksParams } from '../protocol';
import type { Translate } from '../translate';

/** A node with what its questions cost. */
export type Paid = Pick<StatusResult['nodes'][string], 'status' | 'model'>;

/** What was spent until now. */
export interface Cost {
  /** In and out. */
  readonly tokens: number;
  /** US dollars; 0 where the model has no price. */
  readonly usd: number;
}

/** What a run was ordered with. */
export interface Budget {
  readonly tokens?: number;
  /** US dollars. */
  readonly usd?: number;
}

/** None where no model counts tokens. */
export function costOf(status: { readonly nodes: Readonly<Record<string, Paid>> }): Cost | undefined {
  const costs = Object.values(status.nodes).flatMap((it) => (it.model ? [it.model] : []));
  if (costs.length === 0) return undefined;
  const sum = (of: (it: (typeof costs)[number]) => number) =>
    costs.reduce((before, it) => before + of(it), 0);
  return { tokens: sum((it) => it.input_tokens + it.output_tokens), usd: sum((it) => it.usd) };
}

export function isSameCost(a: Cost | undefined, b: Cost | undefined): boolean {
  return a?.tokens === b?.tokens && a?.usd === b?.usd;
}

/** None where it was ordered without one: trellis.toml may set bounds that nobody told us. */
export function budgetOf({ budgetUsd, budgetTokens }: GenerateParams | TasksParams): Budget | undefined {
  const known = {
    ...(typeof budgetUsd === 'number' ? { usd: budgetUsd } : {}),
    ...(typeof budgetTokens === 'number' ? { tokens: budgetTokens } : {}),
  };
  return Object.keys(known).length === 0 ? undefined : known;
}

/** `$0.42 of $1.00, 123k tokens`; dollars are left out where neither a price nor a bound is known. */
export function costWords({ tokens, usd }: Cost, budget: Budget | undefined, t: Translate): string {
  const of = (spent: string, bound: string | undefined) =>
    bound === undefined ? spent : t('{0} of {1}', spent, bound);
  const { usd: mostUsd, tokens: most } = budget ?? {};
  const counted = t('{0} tokens', of(short(tokens), most === undefined ? undefined : short(most)));
  if (usd === 0 && mostUsd === undefined) return counted;
  return [of(dollars(usd), mostUsd === undefined ? undefined : dollars(mostUsd)), counted].join(', ');
}

/** Never `$0.00` of what was not for nothing. */
function dollars(usd: number): string {
  return usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`;
}

/** `999`, `1.2k`, `123k`, `4.5M`. */
function short(count: number): string {
  // From 999.5 thousand on, thousands would be rounded to a million of them.
  const [value, unit] =
    count < 1000 ? [count, ''] : count < 999_500 ? [count / 1e3, 'k'] : [count / 1e6, 'M'];
  return unit === '' || value >= 99.95 ? `${Math.round(value)}${unit}` : `${Number(value.toFixed(1))}${unit}`;
}
