/** What a resumed stream may have missed: the last messages of one connection, kept in memory. */
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** More than a client misses in a reconnect; an answer it misses beyond that is handed again by a poll. */
const KEPT = 100;

export function createReplayStore(): EventStore {
  const kept: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  let count = 0;
  return {
    async storeEvent(stream, message) {
      count += 1;
      const id = `${stream}_${count}`;
      kept.push({ id, stream, message });
      if (kept.length > KEPT) kept.shift();
      return id;
    },
    async replayEventsAfter(last, { send }) {
      const from = kept.findIndex(({ id }) => id === last);
      const stream = kept[from]?.stream ?? last.slice(0, last.lastIndexOf('_'));
      for (const event of kept.slice(from + 1))
        if (event.stream === stream) await send(event.id, event.message);
      return stream;
    },
  };
}
