// Provider `editor`: answers the sidecar's requests with models of other extensions.
import {
  type CancellationToken,
  CancellationTokenSource,
  type LanguageModelChat,
  LanguageModelChatMessage,
  type LanguageModelChatRequestOptions,
  LanguageModelError,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  l10n,
  lm,
} from 'vscode';
import { ResponseError } from 'vscode-languageclient/node';
import type { Client } from '../sidecar/client';
import { findModel, type Part, type Turn, toTurns } from './chat_turns';
import type { AskModelErrorKind, AskModelParams, AskModelResult, ModelToolCall } from './model_messages';

/** Answers `trellis/askModel` and `trellis/cancelModel`, from the sidecar's next start on. */
export function registerEditorModel(client: Client): void {
  const open = new Map<number, CancellationTokenSource>();
  client.handleRequest<AskModelParams>('trellis/askModel', async (params, token) => {
    const source = new CancellationTokenSource();
    const listening = token.onCancellationRequested(() => source.cancel());
    open.set(params.id, source);
    try {
      return await answerRequest(params, source.token);
    } finally {
      open.delete(params.id);
      listening.dispose();
      source.dispose();
    }
  });
  client.handleNotification<{ id: number }>('trellis/cancelModel', ({ id }) => open.get(id)?.cancel());
}

async function answerRequest(params: AskModelParams, token: CancellationToken): Promise<AskModelResult> {
  const model = await chooseModel(params.model);
  const messages = toTurns(params.messages).map(toChatMessage);
  const inputTokens = await countTokens(model, messages, token);
  if (inputTokens > model.maxInputTokens) {
    const { name, maxInputTokens: most } = model;
    const why = l10n.t('the prompt is too long: {0} tokens, {1} accepts {2}', inputTokens, name, most);
    throw responseError('tooLong', why);
  }
  try {
    const response = await model.sendRequest(messages, options(params), token);
    const { text, toolCalls } = await readReply(response.stream);
    const outputTokens = await model.countTokens(text, token);
    return { text, toolCalls, usage: { inputTokens, outputTokens }, model: `${model.vendor}/${model.id}` };
  } catch (error) {
    throw toResponseError(error);
  }
}

async function chooseModel(name: string): Promise<LanguageModelChat> {
  const models = typeof lm?.selectChatModels === 'function' ? await lm.selectChatModels({}) : [];
  const model = findModel(models, name);
  if (model !== undefined) return model;
  if (models.length === 0) {
    throw responseError('unavailable', l10n.t('no installed extension provides a model'));
  }
  const ids = models.map((it) => it.id).join(', ');
  throw responseError('unavailable', l10n.t('this editor has no model "{0}". Available: {1}', name, ids));
}

function options({
  tools,
  temperature,
  maxOutputTokens,
  node,
}: AskModelParams): LanguageModelChatRequestOptions {
  const limit = maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens };
  return {
    justification: l10n.t('Trellis is working on {0}.', node),
    modelOptions: { temperature, ...limit },
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            inputSchema: parameters,
          })),
        }),
  };
}

function toChatMessage(turn: Turn): LanguageModelChatMessage {
  if (turn.role === 'assistant') {
    return LanguageModelChatMessage.Assistant(turn.parts.flatMap((it) => assistantParts(it)));
  }
  return LanguageModelChatMessage.User(turn.parts.flatMap((it) => userParts(it)));
}

function assistantParts(part: Part): (LanguageModelTextPart | LanguageModelToolCallPart)[] {
  switch (part.kind) {
    case 'text':
      return [new LanguageModelTextPart(part.text)];
    case 'call':
      return [new LanguageModelToolCallPart(part.id, part.name, part.input)];
    case 'result':
      return [];
  }
}

function userParts(part: Part): (LanguageModelTextPart | LanguageModelToolResultPart)[] {
  switch (part.kind) {
    case 'text':
      return [new LanguageModelTextPart(part.text)];
    case 'result':
      return [new LanguageModelToolResultPart(part.id, [new LanguageModelTextPart(part.text)])];
    case 'call':
      return [];
  }
}

async function countTokens(
  model: LanguageModelChat,
  messages: readonly LanguageModelChatMessage[],
  token: CancellationToken,
): Promise<number> {
  const counts = await Promise.all(messages.map((it) => model.countTokens(it, token)));
  return counts.reduce((sum, it) => sum + it, 0);
}

async function readReply(
  stream: AsyncIterable<unknown>,
): Promise<{ text: string; toolCalls: ModelToolCall[] }> {
  let text = '';
  const toolCalls: ModelToolCall[] = [];
  for await (const part of stream) {
    if (part instanceof LanguageModelTextPart) text += part.value;
    if (part instanceof LanguageModelToolCallPart) {
      toolCalls.push({ id: part.callId, name: part.name, arguments: part.input });
    }
  }
  if (text.trim() === '' && toolCalls.length === 0) {
    throw responseError('unusable', l10n.t('the model returned an empty reply'));
  }
  return { text, toolCalls };
}

/** Kinds of the editor's errors; other errors may be temporary. */
const KIND_OF_ERROR: Record<string, AskModelErrorKind> = {
  [LanguageModelError.NoPermissions.name]: 'unavailable',
  [LanguageModelError.NotFound.name]: 'unavailable',
  [LanguageModelError.Blocked.name]: 'unusable',
};

function toResponseError(error: unknown): ResponseError<{ kind: AskModelErrorKind }> {
  if (error instanceof ResponseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const kind = error instanceof LanguageModelError ? KIND_OF_ERROR[error.code] : undefined;
  return responseError(kind ?? 'failed', message);
}

/** JSON-RPC code of a failed request. */
const REQUEST_FAILED = -32803;

function responseError(kind: AskModelErrorKind, message: string): ResponseError<{ kind: AskModelErrorKind }> {
  return new ResponseError(REQUEST_FAILED, message, { kind });
}
