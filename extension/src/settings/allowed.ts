// Permissions of tests beyond those of every sandbox, from the person's own settings, never from a folder's.
import type { Allowed } from '../protocol';
import type { ReadSetting } from './read_setting';

/** Returns the permissions that are set; `undefined` without any. */
export function allowedOf(read: ReadSetting): Allowed | undefined {
  const all: Allowed = {
    ...listField('env', variablesOf(read('allow.env'))),
    ...listField('passEnv', stringsOf(read('allow.passEnv'))),
    ...positiveInteger('memory', read('allow.memory')),
    ...positiveInteger('cores', read('allow.cores')),
    ...positiveInteger('runSeconds', read('allow.runSeconds')),
    ...(read('allow.network') === true ? { network: true } : {}),
    ...(read('allow.readOnly') === true ? { readOnly: true } : {}),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

const positiveInteger = (name: string, value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? { [name]: value } : {};

const listField = (name: string, values: string[]) => (values.length === 0 ? {} : { [name]: values });

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string') : [];

/** Formats variables as `NAME=VALUE`. */
function variablesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const all = Object.entries(value).filter(([, it]) => ['string', 'number', 'boolean'].includes(typeof it));
  return all.map(([name, it]) => `${name}=${String(it)}`);
}
