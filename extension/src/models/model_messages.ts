// Messages about models that the API description does not have: `lsp/extensions.rs` of the sidecar defines them.

export interface AskModelParams {
  readonly id: number;
  /** Name after `editor:`; empty if the editor may choose. */
  readonly model: string;
  readonly node: string;
  readonly stage: string;
  readonly attempt: number;
  /** Messages, the oldest first. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly temperature: number;
  readonly maxOutputTokens?: number;
}

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  /** Calls, in messages of the assistant. */
  readonly toolCalls: readonly ModelToolCall[];
  /** Results, in messages of the user. */
  readonly toolResults: readonly ModelToolResult[];
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the parameters. */
  readonly parameters: object;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

export interface ModelToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface AskModelResult {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly model?: string;
}

/** `data.kind` of an error as the answer to a request. */
export type AskModelErrorKind = 'unavailable' | 'tooLong' | 'unusable' | 'failed';

export interface ModelTestResult {
  readonly model?: string;
  readonly ok: boolean;
  readonly reply?: string;
  readonly answeredBy?: string;
  readonly milliseconds: number;
  readonly usd?: number;
  readonly error?: string;
  readonly hint?: string;
}
