/**
 * Resources: a question, and a session's inbox, for clients that read and subscribe instead of polling. Reading one hands
 * nothing over and proves nothing, because the model may never see it.
 */
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ReadResourceRequestSchema,
  type ReadResourceResult,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Following } from '../../application/feed.ts';
import type { Hive } from '../../application/hive.ts';
import { HiveError, isTransient } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { countThatFits } from '../../domain/limits.ts';
import type { Session } from '../../domain/sessions.ts';
import { cleanDeep } from '../../domain/text.ts';
import { mentionView } from './mentions.ts';
import { promptView } from './prompts.ts';
import { RESULT_BYTES } from './tool.ts';

const RESOURCE_NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;

const MOST_SHOWN = 100;
/** A client that subscribes to more has a bug. */
const MOST_SUBSCRIBED = 1_000;

/** `readerOf` finds the reader, from the request's `_meta`. */
export function offerResources(
  server: McpServer,
  hive: Hive,
  readerOf: (meta: Record<string, unknown>) => Promise<Session>,
) {
  server.server.registerCapabilities({ resources: { subscribe: true } });
  const question = server.registerResource(
    'prompt',
    new ResourceTemplate('hive://prompts/{ask_id}', { list: undefined }),
    {
      title: 'A question to the human',
      description:
        'The status of a question, with its answer once there is one. Subscribe to be notified of changes.',
      mimeType: 'application/json',
    },
    (uri, { ask_id }) =>
      readable(async () => {
        const prompt = await hive.prompts.get(String(ask_id));
        return contents(uri, promptView({ prompt, repeated: false }));
      }),
  );
  const inbox = server.registerResource(
    'inbox',
    new ResourceTemplate('hive://sessions/{id}/inbox', { list: undefined }),
    {
      title: "A session's inbox",
      description:
        'The open questions and unprocessed mentions of a session: as many as fit, and their number.',
      mimeType: 'application/json',
    },
    (uri, { id }, { _meta }) =>
      readable(async () => {
        const session_id = decoded(String(id));
        refuseOthers(session_id, await readerOf(_meta ?? {}));
        const open = await hive.prompts.waitForOpen(session_id, { wait_ms: 0 });
        const prompts = open.prompts.map((prompt) => promptView({ prompt, repeated: false }));
        const mentions = (await hive.mentions.unprocessed(session_id, null, MOST_SHOWN)).map(mentionView);
        return contents(uri, {
          prompts: prompts.slice(0, countThatFits(prompts, RESULT_BYTES)),
          prompt_count: open.settled + open.pending,
          mentions: mentions.slice(0, countThatFits(mentions, RESULT_BYTES)),
          mention_count: (await hive.mentions.has(session_id)).count,
        });
      }),
  );
  // The SDK's own handler refuses an unknown address in its own words.
  server.server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, extra) => {
    const uri = new URL(params.uri);
    for (const { resourceTemplate, readCallback } of [question, inbox]) {
      const variables = resourceTemplate.uriTemplate.match(uri.href);
      if (variables !== null) return readCallback(uri, variables, extra);
    }
    throw requestError(
      RESOURCE_NOT_FOUND,
      `There is no resource ${params.uri}: read hive://prompts/ASK_ID or hive://sessions/SESSION_ID/inbox.`,
    );
  });
  return offerSubscriptions(server, hive);
}

/** Reads a resource. A refusal gets an error code, because an error without one would look like a fault of the server. */
async function readable(read: () => Promise<ReadResourceResult>): Promise<ReadResourceResult> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HiveError) || isTransient(error)) throw error;
    throw requestError(
      error.code === 'prompt_not_found' ? RESOURCE_NOT_FOUND : INVALID_PARAMS,
      error.message,
    );
  }
}

/** An error with its code in JSON-RPC. The SDK's own puts the code before its sentence as well. */
function requestError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function contents(uri: URL, value: Record<string, unknown>): ReadResourceResult {
  const text = JSON.stringify(cleanDeep(value));
  return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
}

/** A part of an address, decoded: letters outside ASCII are percent-encoded in it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A session may read its own inbox, and those of its subagents. */
function refuseOthers(session_id: string, reader: Session): void {
  if (session_id === reader.session_id || session_id.startsWith(`${reader.session_id}:`)) return;
  throw new HiveError('not_allowed', `A session may read only its own inbox: yours is ${reader.session_id}.`);
}

/** The subscriptions of one client. Follows the feed only while there are any. */
function offerSubscriptions(server: McpServer, hive: Hive) {
  const subscribed = new Set<string>();
  let stop: Following | null = null;

  async function end(): Promise<void> {
    const ending = stop;
    stop = null;
    await ending?.();
  }

  async function notify(uris: Iterable<string>): Promise<void> {
    for (const uri of uris) {
      if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    }
  }

  async function follow(): Promise<void> {
    const cursor = await hive.history.head();
    stop ??= hive.feed.follow({
      cursor,
      async onEvents(events) {
        // Not awaited: it waits for this very call to return.
        if (!server.isConnected()) void end();
        else await notify(new Set(events.flatMap(touchedBy)));
      },
      // The missed events are unknown, so each resource may have changed.
      onResync: () => notify([...subscribed]),
    });
  }

  server.server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
    if (subscribed.size >= MOST_SUBSCRIBED)
      throw requestError(INVALID_PARAMS, `There are ${MOST_SUBSCRIBED} subscriptions already.`);
    subscribed.add(uri);
    if (stop === null) await follow();
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, async ({ params: { uri } }) => {
    subscribed.delete(uri);
    if (subscribed.size === 0) await end();
    return {};
  });
  return {
    /** Resolves when the client has been notified of everything stored by now; at once when it has subscribed to nothing. */
    async caughtUp(): Promise<void> {
      await stop?.caughtUp();
    },
  };
}

/** The resources that an event changes. */
function touchedBy({ type, subject, session_id }: HiveEvent): string[] {
  const inbox = session_id === null ? [] : [`hive://sessions/${encodeURIComponent(session_id)}/inbox`];
  const plain = session_id === null ? [] : [`hive://sessions/${session_id}/inbox`];
  if (type.startsWith('prompt/')) return [`hive://prompts/${subject}`, ...inbox, ...plain];
  return type.startsWith('mention/') ? [...inbox, ...plain] : [];
}
