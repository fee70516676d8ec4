// An ACP agent that does nothing: it answers `echo` at once, and asks for a permission at each prompt.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const options = [{ optionId: 'no', name: 'Reject', kind: 'reject_once' }];
const prompts = new Map();

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1 } });
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } });
  else if (method === 'echo') send({ id, result: params });
  else if (method === 'session/prompt') {
    const asked = `ask-${id}`;
    prompts.set(asked, id);
    const toolCall = { toolCallId: asked, title: 'make', kind: 'execute', rawInput: { command: 'make' } };
    send({ id: asked, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
  } else if (prompts.has(id)) send({ id: prompts.get(id), result: { stopReason: 'end_turn' } });
});
