// The services that answer as models, and where each looks for its key.

export interface Provider {
  /** As in `provider:name`. */
  readonly name: string;
  readonly label: string;
  /** The variable that the sidecar reads its key from; none where no key is needed. */
  readonly key?: string;
  /** An example of a model's name, to show what one looks like. */
  readonly example: string;
}

/** As `server/model/src/providers.rs` has them. */
export const PROVIDERS: readonly Provider[] = [
  { name: 'anthropic', label: 'Anthropic', key: 'ANTHROPIC_API_KEY', example: 'claude-sonnet-4-5' },
  { name: 'azure', label: 'Azure OpenAI', key: 'AZURE_OPENAI_API_KEY', example: 'deployment' },
  { name: 'gemini', label: 'Google Gemini', key: 'GEMINI_API_KEY', example: 'gemini-flash-latest' },
  { name: 'groq', label: 'Groq', key: 'GROQ_API_KEY', example: 'llama-3.3-70b-versatile' },
  { name: 'lmstudio', label: 'LM Studio', example: 'qwen2.5-coder-14b' },
  { name: 'ollama', label: 'Ollama', example: 'qwen2.5-coder' },
  { name: 'openai', label: 'OpenAI', key: 'OPENAI_API_KEY', example: 'gpt-5-mini' },
  { name: 'openrouter', label: 'OpenRouter', key: 'OPENROUTER_API_KEY', example: 'qwen/qwen3-coder' },
];

/** Providers that take a key. */
export function keyed(): readonly (Provider & { key: string })[] {
  return PROVIDERS.flatMap(({ key, ...it }) => (key === undefined ? [] : [{ ...it, key }]));
}

/** The variables of all keys with no value, by which a process gets none of them, the editor's own neither. */
export function noKeys(): Record<string, undefined> {
  return Object.fromEntries(keyed().map(({ key }) => [key, undefined]));
}

/** The provider that a model such as `openai:gpt-5-mini` is of; none of ours for `editor` and `recorded:FILE`. */
export function providerOf(model: string): Provider | undefined {
  const [name] = model.split(':', 1);
  return PROVIDERS.find((it) => it.name === name);
}
