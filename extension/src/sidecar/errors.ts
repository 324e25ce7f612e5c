// Errors of the wire as {@link TrellisError}, their texts, and actions that help.

import { l10n } from 'vscode';
import type { Remedy } from '../protocol';
import { capitalized, withFullStop } from '../sentence';
import type { Translate } from '../translate';
import { fields } from '../unknown_value';
import { TrellisError } from './api';
import { adviceOf, withSettingNames } from './hints';

/** Converts anything that was thrown. */
export function toTrellisError(error: unknown): TrellisError {
  if (error instanceof TrellisError) return error;
  const { message, code, data } = fields(error);
  const { hint, kind, remedy } = fields(data);
  return new TrellisError(
    typeof message === 'string' && message !== '' ? message : String(error),
    typeof code === 'number' ? code : INTERNAL_ERROR,
    typeof hint === 'string' && hint !== '' ? hint : undefined,
    typeof kind === 'string' ? kind : undefined,
    isRemedy(remedy) ? remedy : undefined,
  );
}

/** Recognizes a remedy. Remedies of newer sidecars are unknown and not offered. */
function isRemedy(value: unknown): value is Remedy {
  return value === 'rebase' || value === 'review';
}

/** Describes an error and what to do about it, in one sentence each. */
export function errorText(
  error: Pick<TrellisError, 'message' | 'hint' | 'kind'>,
  t: Translate = l10n.t,
): string {
  const { text } = adviceOf(error, t);
  const message = withSettingNames(error.message, t);
  return text === undefined ? message : `${withFullStop(message)} ${capitalized(text)}`;
}

/** JSON-RPC code of an internal error of the server. */
const INTERNAL_ERROR = -32603;
/** Codes of a cancelled request: JSON-RPC's and the sidecar's. */
const CANCELLED_CODES: readonly number[] = [-32800, 130];

/** Recognizes the error of a request that the person cancelled, which needs no report. */
export function isCancelled(error: TrellisError): boolean {
  return error.kind === 'cancelled' || CANCELLED_CODES.includes(error.code);
}

/** A command that helps, with its title in the notification. */
export interface ErrorAction {
  readonly title: string;
  readonly command: string;
  readonly argument?: string;
}

/** Chooses the action that is offered with an error; the output if no other is known to help. */
export function errorActionOf(error: Pick<TrellisError, 'hint' | 'kind'>, t: Translate): ErrorAction {
  const { setting } = adviceOf(error, t);
  if (setting !== undefined)
    return { title: t('Open Settings'), command: 'workbench.action.openSettings', argument: setting };
  switch (error.kind) {
    case 'untrusted':
      return { title: t('Manage Workspace Trust'), command: 'workbench.trust.manage' };
    case 'noModel':
    case 'noFix':
      return { title: t('Select Model…'), command: 'trellis.selectModel' };
    case 'noKey':
      return { title: t('Set API Key…'), command: 'trellis.setApiKey' };
    default:
      return { title: t('Show Output'), command: 'trellis.showOutput' };
  }
}
