// The least that a hook over the connection can cost: an MCP server that answers every call at once with nothing to say,
// without an SDK. What a step costs with it is the client's own part.
let begun = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = `${begun}${text}`.split('\n');
  begun = lines.pop() ?? '';
  for (const line of lines) answer(JSON.parse(line));
});

function answer({ id, method, params }) {
  if (id === undefined) return;
  const result = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'instant', version: '1' },
    }),
    'tools/list': () => ({ tools: [] }),
    'tools/call': () => ({ content: [{ type: 'text', text: '{}' }] }),
  }[method];
  const error = { code: -32601, message: 'Method not found' };
  const response = { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result: result() }) };
  process.stdout.write(`${JSON.stringify(response)}\n`);
}
