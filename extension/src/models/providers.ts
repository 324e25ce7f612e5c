// Providers of models, and the variables of their keys.

export interface Provider {
  /** Name in `provider:name`. */
  readonly name: string;
  readonly label: string;
  /** Environment variable of the API key; none if no key is needed. */
  readonly key?: string;
  /** Example of a model's name. */
  readonly example: string;
}

/** The same as in `server/trellis_llm/src/providers.rs`. */
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

/** Returns the providers that need a key. */
export function providersWithKey(): readonly (Provider & { key: string })[] {
  return PROVIDERS.flatMap(({ key, ...it }) => (key === undefined ? [] : [{ ...it, key }]));
}

/** Makes variables that remove all keys from a process, the editor's own included. */
export function noKeys(): Record<string, undefined> {
  return Object.fromEntries(providersWithKey().map(({ key }) => [key, undefined]));
}

/** Returns the provider of a model such as `openai:gpt-5-mini`; `undefined` for `editor` and `recorded:FILE`. */
export function providerOf(model: string): Provider | undefined {
  const [name] = model.split(':', 1);
  return PROVIDERS.find((it) => it.name === name);
}
