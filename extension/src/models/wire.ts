// The messages about models that are in no description of methods: `lsp/extensions.rs` of the sidecar has them.

export interface AskModelParams {
  readonly id: number;
  /** After `editor:`; empty where the editor may choose. */
  readonly model: string;
  readonly node: string;
  readonly stage: string;
  readonly attempt: number;
  /** Oldest first. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly temperature: number;
  readonly maxOutputTokens?: number;
}

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  /** Of an assistant only. */
  readonly toolCalls: readonly ModelToolCall[];
  /** Of a user only. */
  readonly toolResults: readonly ModelToolResult[];
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON schema. */
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

/** `data.kind` of an error that answers a question. */
export type WhyNot = 'unavailable' | 'tooLong' | 'unusable' | 'failed';

export interface ModelTried {
  readonly model?: string;
  readonly ok: boolean;
  readonly reply?: string;
  readonly answeredBy?: string;
  readonly milliseconds: number;
  readonly usd?: number;
  readonly error?: string;
  readonly hint?: string;
}
