// The provider `editor`: the sidecar's questions, put to the models that extensions of the editor offer.
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
import { named, type Part, type Turn, turns } from './turns';
import type { AskModelParams, AskModelResult, ModelToolCall, WhyNot } from './wire';

/** Answers `trellis/askModel` and `trellis/cancelModel`, from the sidecar's next start on. */
export function editorModel(client: Client): void {
  const open = new Map<number, CancellationTokenSource>();
  client.handleRequest<AskModelParams>('trellis/askModel', async (params, token) => {
    const source = new CancellationTokenSource();
    const listening = token.onCancellationRequested(() => source.cancel());
    open.set(params.id, source);
    try {
      return await ask(params, source.token);
    } finally {
      open.delete(params.id);
      listening.dispose();
      source.dispose();
    }
  });
  client.handleNotification<{ id: number }>('trellis/cancelModel', ({ id }) => open.get(id)?.cancel());
}

async function ask(params: AskModelParams, token: CancellationToken): Promise<AskModelResult> {
  const model = await choose(params.model);
  const messages = turns(params.messages).map(message);
  const inputTokens = await count(model, messages, token);
  if (inputTokens > model.maxInputTokens) {
    const { name, maxInputTokens: most } = model;
    const why = l10n.t('the prompt is too long: {0} tokens, {1} accepts {2}', inputTokens, name, most);
    throw refused('tooLong', why);
  }
  try {
    const response = await model.sendRequest(messages, options(params), token);
    const { text, toolCalls } = await read(response.stream);
    const outputTokens = await model.countTokens(text, token);
    return { text, toolCalls, usage: { inputTokens, outputTokens }, model: `${model.vendor}/${model.id}` };
  } catch (error) {
    throw why(error);
  }
}

async function choose(name: string): Promise<LanguageModelChat> {
  const models = typeof lm?.selectChatModels === 'function' ? await lm.selectChatModels({}) : [];
  const model = named(models, name);
  if (model !== undefined) return model;
  if (models.length === 0) {
    throw refused('unavailable', l10n.t('no installed extension provides a model'));
  }
  const there = models.map((it) => it.id).join(', ');
  throw refused('unavailable', l10n.t('this editor has no model "{0}". Available: {1}', name, there));
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

function message(turn: Turn): LanguageModelChatMessage {
  if (turn.role === 'assistant') {
    return LanguageModelChatMessage.Assistant(turn.parts.flatMap((it) => spoken(it)));
  }
  return LanguageModelChatMessage.User(turn.parts.flatMap((it) => asked(it)));
}

function spoken(part: Part): (LanguageModelTextPart | LanguageModelToolCallPart)[] {
  switch (part.kind) {
    case 'text':
      return [new LanguageModelTextPart(part.text)];
    case 'call':
      return [new LanguageModelToolCallPart(part.id, part.name, part.input)];
    case 'result':
      return [];
  }
}

function asked(part: Part): (LanguageModelTextPart | LanguageModelToolResultPart)[] {
  switch (part.kind) {
    case 'text':
      return [new LanguageModelTextPart(part.text)];
    case 'result':
      return [new LanguageModelToolResultPart(part.id, [new LanguageModelTextPart(part.text)])];
    case 'call':
      return [];
  }
}

async function count(
  model: LanguageModelChat,
  messages: readonly LanguageModelChatMessage[],
  token: CancellationToken,
): Promise<number> {
  const counts = await Promise.all(messages.map((it) => model.countTokens(it, token)));
  return counts.reduce((sum, it) => sum + it, 0);
}

async function read(stream: AsyncIterable<unknown>): Promise<{ text: string; toolCalls: ModelToolCall[] }> {
  let text = '';
  const toolCalls: ModelToolCall[] = [];
  for await (const part of stream) {
    if (part instanceof LanguageModelTextPart) text += part.value;
    if (part instanceof LanguageModelToolCallPart) {
      toolCalls.push({ id: part.callId, name: part.name, arguments: part.input });
    }
  }
  if (text.trim() === '' && toolCalls.length === 0) {
    throw refused('unusable', l10n.t('the model returned an empty reply'));
  }
  return { text, toolCalls };
}

/** Kinds of the editor's own errors; what is none of these may pass. */
const KINDS: Record<string, WhyNot> = {
  [LanguageModelError.NoPermissions.name]: 'unavailable',
  [LanguageModelError.NotFound.name]: 'unavailable',
  [LanguageModelError.Blocked.name]: 'unusable',
};

function why(error: unknown): ResponseError<{ kind: WhyNot }> {
  if (error instanceof ResponseError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const kind = error instanceof LanguageModelError ? KINDS[error.code] : undefined;
  return refused(kind ?? 'failed', said);
}

/** JSON-RPC's code for a request that failed. */
const REQUEST_FAILED = -32803;

function refused(kind: WhyNot, message: string): ResponseError<{ kind: WhyNot }> {
  return new ResponseError(REQUEST_FAILED, message, { kind });
}
