// What tests may have beside what every sandbox gives, as the person's own settings say: never a folder's.
import type { Allowed } from '../protocol';
import type { Own } from './read_setting';

/** Only what is set; `undefined` where nothing is. */
export function allowed(own: Own): Allowed | undefined {
  const all: Allowed = {
    ...list('env', pairs(own('allow.env'))),
    ...list('passEnv', strings(own('allow.passEnv'))),
    ...amount('memory', own('allow.memory')),
    ...amount('cores', own('allow.cores')),
    ...amount('runSeconds', own('allow.runSeconds')),
    ...(own('allow.network') === true ? { network: true } : {}),
    ...(own('allow.readOnly') === true ? { readOnly: true } : {}),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

const amount = (name: string, value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? { [name]: value } : {};

const list = (name: string, values: string[]) => (values.length === 0 ? {} : { [name]: values });

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string') : [];

/** Variables with their values, as the sidecar takes them. */
function pairs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const all = Object.entries(value).filter(([, it]) => ['string', 'number', 'boolean'].includes(typeof it));
  return all.map(([name, it]) => `${name}=${String(it)}`);
}
