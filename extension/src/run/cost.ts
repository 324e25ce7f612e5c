// Cost and budget of a run: values, and their texts.

import type { GenerateParams, StatusResult, TasksParams } from '../protocol';
import type { Translate } from '../translate';

/** A node's status with the cost of its model calls. */
export type NodeCost = Pick<StatusResult['nodes'][string], 'status' | 'model'>;

/** Cost up to now. */
export interface Cost {
  /** Input and output tokens. */
  readonly tokens: number;
  /** US dollars; 0 if the model has no price. */
  readonly usd: number;
}

/** Budget that a run was requested with. */
export interface Budget {
  readonly tokens?: number;
  /** US dollars. */
  readonly usd?: number;
}

/** Adds up the cost of the nodes; `undefined` if no model counts tokens. */
export function costOf(status: { readonly nodes: Readonly<Record<string, NodeCost>> }): Cost | undefined {
  const costs = Object.values(status.nodes).flatMap((it) => (it.model ? [it.model] : []));
  if (costs.length === 0) return undefined;
  const sum = (of: (it: (typeof costs)[number]) => number) =>
    costs.reduce((before, it) => before + of(it), 0);
  return { tokens: sum((it) => it.input_tokens + it.output_tokens), usd: sum((it) => it.usd) };
}

export function isSameCost(a: Cost | undefined, b: Cost | undefined): boolean {
  return a?.tokens === b?.tokens && a?.usd === b?.usd;
}

/** Reads the budget of a request; `undefined` without one, although trellis.toml may set limits. */
export function budgetOf({ budgetUsd, budgetTokens }: GenerateParams | TasksParams): Budget | undefined {
  const known = {
    ...(typeof budgetUsd === 'number' ? { usd: budgetUsd } : {}),
    ...(typeof budgetTokens === 'number' ? { tokens: budgetTokens } : {}),
  };
  return Object.keys(known).length === 0 ? undefined : known;
}

/** Describes a cost: `$0.42 of $1.00, 123k tokens`. Dollars are left out if neither a price nor a limit is known. */
export function costText({ tokens, usd }: Cost, budget: Budget | undefined, t: Translate): string {
  const of = (spent: string, bound: string | undefined) =>
    bound === undefined ? spent : t('{0} of {1}', spent, bound);
  const { usd: mostUsd, tokens: most } = budget ?? {};
  const counted = t('{0} tokens', of(shortCount(tokens), most === undefined ? undefined : shortCount(most)));
  if (usd === 0 && mostUsd === undefined) return counted;
  return [of(dollars(usd), mostUsd === undefined ? undefined : dollars(mostUsd)), counted].join(', ');
}

/** Formats dollars; small amounts are not rounded to `$0.00`. */
export function dollars(usd: number): string {
  return usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`;
}

/** Formats a count: `999`, `1.2k`, `123k`, `4.5M`. */
export function shortCount(count: number): string {
  // From 999.5 thousand on, rounding thousands would give a million of them.
  const [value, unit] =
    count < 1000 ? [count, ''] : count < 999_500 ? [count / 1e3, 'k'] : [count / 1e6, 'M'];
  return unit === '' || value >= 99.95 ? `${Math.round(value)}${unit}` : `${Number(value.toFixed(1))}${unit}`;
}
