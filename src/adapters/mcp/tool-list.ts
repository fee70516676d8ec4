/**
 * What a client reads of our tools before it calls one. A model pays for this text with every request, so it is short:
 * the tools that an agent needs again and again are loaded always, the others only where the client cannot load a tool
 * on demand, and no schema is in the list twice. A test counts the tokens.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Tool } from './tool.ts';

/** Claude Code sends the model these tools at once, and of the others only the names until it looks one up. */
const LOADED_ALWAYS = { _meta: { 'anthropic/alwaysLoad': true } };

const DESCRIPTIONS = new WeakMap<Tool, ListedTool>();

/** A tool as `tools/list` shows it. */
export function listed(tool: Tool): ListedTool {
  const made = DESCRIPTIONS.get(tool) ?? describe(tool);
  DESCRIPTIONS.set(tool, made);
  return made;
}

function describe({ name, title, description, input, shown = input, always, readOnly }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(shown),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: false,
      idempotentHint: readOnly,
      openWorldHint: false,
    },
    ...(always === true ? LOADED_ALWAYS : {}),
  };
}

/** Without what a model cannot use: it does not count characters, and a refusal names the limit. */
function schemaOf(shape: z.ZodRawShape): ListedTool['inputSchema'] {
  const { $schema: _, ...schema } = z.toJSONSchema(z.object(shape), {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
    },
  });
  return schema as ListedTool['inputSchema'];
}
