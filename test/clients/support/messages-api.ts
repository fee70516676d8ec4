/** The Messages API, scripted: only what Claude Code needs is served, POST /v1/messages as a stream. */
import type { ModelApi, StreamEvent } from './model-server.ts';

/** One thing the model says: words, or calls of tools (several are one parallel batch). */
export type Reply = { text: string } | { calls: readonly ToolUse[] };

export interface ToolUse {
  name: string;
  input: unknown;
}

/** A request that carries tools, which is one step of the agent; the others are side calls (see `isSuggestion`). */
export interface ModelRequest {
  messages: { role: string; content: unknown }[];
  tools: { name: string }[];
  system: unknown;
}

/** A call of Claude Code's shell. */
export const bash = (command: string): ToolUse => ({ name: 'Bash', input: { command, description: 'work' } });

/** A call of one of our tools. */
export const hive = (tool: string, input: unknown = {}): ToolUse => ({ name: `mcp__hive__${tool}`, input });

export type Script = (request: ModelRequest, step: number) => Reply | Promise<Reply>;

export const MESSAGES_API: ModelApi<ModelRequest, Reply> = {
  takes: (path) => path.startsWith('/v1/messages') && !path.includes('count_tokens'),
  isStep: (request) => Array.isArray(request.tools) && request.tools.length > 0 && !isSuggestion(request),
  aside: { text: 'ok' },
  conversation: ({ messages }) => messages,
  isModels: (message) => (message as ModelRequest['messages'][number]).role === 'assistant',
  stream: events,
};

/** Claude Code asks, once a turn has ended and with all of its tools, what the person may type next. The agent sees nothing of it. */
function isSuggestion({ messages }: ModelRequest): boolean {
  return JSON.stringify(messages.at(-1)?.content ?? '').includes('[SUGGESTION MODE:');
}

function events(reply: Reply, step: number): StreamEvent[] {
  const blocks =
    'text' in reply
      ? [{ type: 'text', text: '' }]
      : reply.calls.map(({ name }, n) => ({
          type: 'tool_use',
          id: `toolu_${step}_${n}_${Date.now()}`,
          name,
          input: {},
        }));
  const deltas =
    'text' in reply
      ? [{ type: 'text_delta', text: reply.text }]
      : reply.calls.map(({ input }) => ({ type: 'input_json_delta', partial_json: JSON.stringify(input) }));
  const usage = { input_tokens: 10, output_tokens: 10 };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${step}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-fake',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta: deltas[index] },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: 'text' in reply ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
}
