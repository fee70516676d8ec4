/** The Responses API, scripted, for Codex. */
import { onTestFinished } from 'vitest';
import { type ModelServer, type StreamEvent, serveModel } from './model-server.ts';

/** One thing the model says: words, or calls of tools. */
export type Reply = { text: string } | { calls: readonly (FunctionCall | FreeformCall)[] };

export interface FunctionCall {
  name: string;
  namespace?: string;
  arguments: unknown;
}

/** A call of a tool that takes a text as it is, without JSON. */
export interface FreeformCall {
  name: string;
  input: string;
}

/** A call of Codex's shell. */
export const shell = (cmd: string): FunctionCall => ({ name: 'exec_command', arguments: { cmd } });

/** A call of one of our tools. */
export const hive = (name: string, args: unknown = {}): FunctionCall => ({
  name,
  namespace: 'mcp__hive',
  arguments: args,
});

/** A script that a model writes instead of calling tools itself, as the real ones of today do. */
export const script = (body: string): FreeformCall => ({ name: 'exec', input: body });

export interface ResponsesRequest {
  input: { type?: string; role?: string; [field: string]: unknown }[];
  /** Missing where the model calls tools from scripts. */
  tools?: unknown[];
  text?: { format?: unknown };
}

export type Script = (request: ResponsesRequest, step: number) => Reply | Promise<Reply>;

/** `aside`: the reply to side calls, such as the one that asks for a title. */
export async function startResponses(
  script: Script,
  aside: Reply = { text: 'a title' },
): Promise<ModelServer<ResponsesRequest>> {
  const server = await serveModel<ResponsesRequest, Reply>(
    {
      takes: (path) => path.endsWith('/responses'),
      isStep: ({ tools, text }) => (tools === undefined ? text?.format === undefined : tools.length > 0),
      aside,
      conversation: ({ input }) => input,
      isModels(part) {
        const { type, role } = part as ResponsesRequest['input'][number];
        return type === 'function_call' || type === 'custom_tool_call' || role === 'assistant';
      },
      stream: events,
    },
    script,
  );
  onTestFinished(() => server.close());
  return { ...server, url: `${server.url}/v1` };
}

function events(reply: Reply, step: number): StreamEvent[] {
  const id = `resp_${step}`;
  const items =
    'text' in reply
      ? [
          {
            type: 'message',
            id: `msg_${step}`,
            role: 'assistant',
            content: [{ type: 'output_text', text: reply.text, annotations: [] }],
          },
        ]
      : reply.calls.map((call, n) => {
          const common = { id: `fc_${step}_${n}`, call_id: `call_${step}_${n}`, name: call.name };
          if ('input' in call) return { ...common, type: 'custom_tool_call', input: call.input };
          const { namespace, arguments: args } = call;
          const named = namespace === undefined ? {} : { namespace };
          return { ...common, type: 'function_call', ...named, arguments: JSON.stringify(args) };
        });
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  return [
    { type: 'response.created', response: { id } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id, usage } },
  ];
}
