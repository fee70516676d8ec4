/** MCP 2026-07-28 (modern.ts) on a connection of lines: one client, which may mix both revisions until it knows ours. */
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { createModernClients, envelopeOf } from './modern.ts';

/** `deliver` passes a message of the older revision to the server, and `write` writes a line. */
export function modernOverLines(
  deliver: (message: JSONRPCMessage) => void,
  write: (message: JSONRPCMessage) => Promise<void>,
  options: { tasks?: boolean } = {},
) {
  const clients = createModernClients(deliver, options);
  /** How to cancel the requests in progress, by the client's ids. */
  const cancels = new Map<RequestId, () => void>();

  function begin(request: JSONRPCRequest): void {
    const { id } = request;
    let isAnswered = false;
    const cancel = clients.request(request, (message) => {
      if (!('method' in message)) {
        isAnswered = true;
        cancels.delete(id);
      }
      // The connection is gone, and nobody waits for the answer.
      write(message).catch(() => undefined);
    });
    if (!isAnswered) cancels.set(id, cancel);
  }

  return {
    /** True for a message of a new client, which this has handled: the server must not see it untranslated. */
    takes(message: JSONRPCMessage): boolean {
      if (!('method' in message)) return false;
      if (message.method === 'notifications/cancelled') {
        const id = message.params?.['requestId'] as RequestId;
        const cancel = cancels.get(id);
        cancels.delete(id);
        cancel?.();
        return cancel !== undefined;
      }
      if (envelopeOf(message) === null) {
        // A client whose probe was not answered in time, for example.
        if (message.method === 'initialize') clients.leave();
        return false;
      }
      // The server needs no notification of the new revision.
      if ('id' in message) begin(message as JSONRPCRequest);
      return true;
    },
    /** Writes a message of the server in the revision of the request that it belongs to. */
    async write(message: JSONRPCMessage, related?: RequestId): Promise<void> {
      if (!clients.send(message, related)) await write(message);
    },
    /** Ends the subscriptions with their answers. */
    end: clients.end,
  };
}
