/**
 * The stream of a page: the notifications of a desk, as server-sent events (HTML standard, 9.2). All pages of one human share
 * one feed, so that an idle page costs nothing. A page that reads too slowly is cut off and reconnects: it then reads
 * its lists again, so nothing has to be kept for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startEvents } from '../../adapters/emacs/connection.ts';
import { fitted } from '../../adapters/emacs/frames.ts';
import type { EmacsExtension, Notify } from '../../adapters/emacs/method.ts';
import type { Hive } from '../../application/hive.ts';
import type { Device } from '../../domain/devices.ts';
import { HiveError } from '../../domain/errors.ts';
import { cleanDeep } from '../../domain/text.ts';
import { connectionOf } from './calls.ts';

/** A browser allows six connections to a server: if all of them were streams, its pages could make no calls. */
const MOST_OF_DEVICE = 4;
const MOST = 1_000;
/** In ms. A proxy closes a connection on which nothing arrives. */
const HEARTBEAT_MS = 20_000;
/** In bytes: how much may be queued for one page. */
const MOST_WAITING = 1024 * 1024;
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

export function createInboxStreams(hive: Hive, place: { seat: string; pid: number }) {
  const open = new Map<ServerResponse, { device: Device; page: string | null }>();
  const channels = new Map<string, Promise<Channel>>();
  const heartbeat = setInterval(() => {
    for (const response of open.keys()) if (response.headersSent) send(response, ': \n\n');
  }, HEARTBEAT_MS).unref();

  function send(response: ServerResponse, text: string): void {
    if (response.writableLength > MOST_WAITING) response.destroy();
    else response.write(text);
  }

  /** The feed of a human, while one of their pages is open. */
  function channelOf(device: Device): Promise<Channel> {
    const { human } = device;
    const before = channels.get(human);
    if (before !== undefined) return before;
    const making = makeChannel(device);
    channels.set(human, making);
    making.catch(() => {
      if (channels.get(human) === making) channels.delete(human);
    });
    return making;
  }

  async function makeChannel(device: Device): Promise<Channel> {
    const pages = new Set<ServerResponse>();
    const connection = connectionOf(hive, place, device);
    connection.head_seq = await hive.history.head();
    const notify: Notify = async (method, params) => {
      const text = event('notification', { method, params: fitted(cleanDeep(params)) });
      for (const page of pages) send(page, text);
    };
    const seats: EmacsExtension = {
      methods: {},
      // Its human may let a phone allow permissions while its page is open.
      async notify(events) {
        if (!events.some(({ type }) => type === 'seat/registered' || type === 'trust/changed')) return;
        for (const page of pages) {
          const paired = open.get(page)?.device;
          if (paired !== undefined) send(page, await helloTo(paired));
        }
      },
    };
    return { pages, end: startEvents(connection, notify, [seats]) };
  }

  /** The page then reads its lists. */
  async function helloTo({ key }: Device): Promise<string> {
    const now = await hive.history.now();
    return event('hello', { now, may_allow: hive.seats.counts(key) });
  }

  /** Called when the last page of a human has closed. A page that is about to open is in `open` already, so it keeps the feed. */
  async function leave(response: ServerResponse, human: string): Promise<void> {
    open.delete(response);
    const making = channels.get(human);
    const channel = await making?.catch(() => undefined);
    channel?.pages.delete(response);
    const isWanted = [...open.values()].some(({ device }) => device.human === human);
    if (channel === undefined || isWanted || channels.get(human) !== making) return;
    channels.delete(human);
    await channel.end();
  }

  return {
    /**
     * Answers with a stream that continues until either side ends it, or the same `page` of this device opens another: a page has
     * only one, and the network may hide that an earlier one has ended. @throws HiveError `too_many`.
     */
    async open(
      request: IncomingMessage,
      response: ServerResponse,
      device: Device,
      page: string | null,
    ): Promise<void> {
      // Its page has closed in the meantime, and no later event would report that.
      if (response.destroyed) return;
      // There would be nothing to read, so it takes no place of a page.
      if (request.method === 'HEAD') return void response.writeHead(200, HEADERS).end();
      const { human, device_id } = device;
      for (const [before, other] of open) {
        if (page === null || other.page !== page || other.device.device_id !== device_id) continue;
        open.delete(before);
        before.destroy();
      }
      const own = [...open.values()].filter((other) => other.device.device_id === device_id);
      if (own.length >= MOST_OF_DEVICE || open.size >= MOST)
        throw new HiveError('too_many', 'Too many pages are open: close one of them.');
      open.set(response, { device, page });
      response.once('close', () => {
        leave(response, human).catch((error: unknown) =>
          hive.log.warn('A feed of the inbox did not end.', { error: String(error) }),
        );
      });
      const { pages } = await channelOf(device);
      const hello = await helloTo(device);
      if (request.destroyed || response.destroyed) return;
      response.writeHead(200, HEADERS);
      response.write(hello);
      pages.add(response);
    },

    /** Ends the streams of every other device. */
    keepOnly(devices: ReadonlySet<string>): void {
      for (const [response, { device }] of open) if (!devices.has(device.device_id)) response.destroy();
    },

    async close(): Promise<void> {
      clearInterval(heartbeat);
      for (const response of open.keys()) response.destroy();
      const made = await Promise.allSettled(channels.values());
      await Promise.all(made.map((one) => (one.status === 'fulfilled' ? one.value.end() : undefined)));
    },
  };
}

interface Channel {
  pages: Set<ServerResponse>;
  end(): Promise<void>;
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
