/**
 * The stream of a page: the notifications of a desk, as server-sent events (HTML standard, 9.2). All pages of one human share
 * one feed, so that an idle page costs nothing. A page that reads too slowly is cut off and comes again: it then reads
 * its lists anew, so nothing has to be kept for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hive } from '../../application/hive.ts';
import type { Device } from '../../domain/devices.ts';
import { HiveError } from '../../domain/errors.ts';
import { cleanDeep } from '../../domain/text.ts';
import { startEvents } from '../emacs/connection.ts';
import { fitted } from '../emacs/frames.ts';
import { connectionOf } from './calls.ts';

export interface InboxStreams {
  /** Answers with a stream that goes on until either side ends it. @throws HiveError `too_many`. */
  open(request: IncomingMessage, response: ServerResponse, device: Device): Promise<void>;
  /** Ends the streams of every other device. */
  keepOnly(devices: ReadonlySet<string>): void;
  close(): Promise<void>;
}

const MOST_OF_DEVICE = 8;
const MOST = 1_000;
/** A proxy closes a connection on which nothing comes. */
const HEARTBEAT_MS = 20_000;
/** So many bytes may wait for a page. */
const MOST_WAITING = 1024 * 1024;

export function createInboxStreams(hive: Hive, place: { seat: string; pid: number }): InboxStreams {
  const open = new Map<ServerResponse, string>();
  const channels = new Map<string, Promise<Channel>>();
  const heartbeat = setInterval(() => {
    for (const response of open.keys()) send(response, ': \n\n');
  }, HEARTBEAT_MS).unref();

  function send(response: ServerResponse, text: string): void {
    if (response.writableLength > MOST_WAITING) response.destroy();
    else response.write(text);
  }

  /** The feed of a human, while one of their pages is open. */
  async function channelOf(device: Device): Promise<Channel> {
    const pages = new Set<ServerResponse>();
    const connection = connectionOf(hive, place, device);
    connection.head_seq = await hive.history.head();
    const following = startEvents(connection, async (method, params) => {
      const text = event('notification', { method, params: fitted(cleanDeep(params)) });
      for (const page of pages) send(page, text);
    });
    return { pages, end: following };
  }

  return {
    async open(request, response, device) {
      const own = [...open.values()].filter((device_id) => device_id === device.device_id);
      if (own.length >= MOST_OF_DEVICE || open.size >= MOST)
        throw new HiveError('too_many', 'Too many pages are open: close one of them.');
      const { human, device_id } = device;
      open.set(response, device_id);
      const making = channels.get(human) ?? channelOf(device);
      channels.set(human, making);
      response.once('close', () => {
        open.delete(response);
        void making.then(async (channel) => {
          channel.pages.delete(response);
          if (channel.pages.size > 0 || channels.get(human) !== making) return;
          channels.delete(human);
          await channel.end();
        });
      });
      const { pages } = await making.catch((error: unknown) => {
        channels.delete(human);
        throw error;
      });
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
      });
      response.write(event('hello', { now: await hive.history.now() }));
      if (request.destroyed || response.destroyed) return;
      pages.add(response);
    },

    keepOnly(devices) {
      for (const [response, device_id] of open) if (!devices.has(device_id)) response.destroy();
    },

    async close() {
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
