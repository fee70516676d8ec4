/** Tokens as models count them: o200k, a public tokenizer. Claude's own is not public. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** How many tokens a text has, or a value as the JSON that a model reads. */
export function tokensOf(value: unknown): number {
  return countTokens(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A tool as a client sends it to its model. */
export function sentToModel({ name, description, inputSchema }: ListedTool): object {
  return { name: `mcp__hive__${name}`, description, input_schema: inputSchema };
}

interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}
