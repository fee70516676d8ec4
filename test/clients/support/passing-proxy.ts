/** A server between a client and ours, for what the client cannot do or would not tell. */
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Passing {
  /** Resolves when this request may go on. */
  pace?: () => Promise<void>;
  /** Headers in place of the client's. */
  headers?: Readonly<Record<string, string>>;
  /** Called with the body of each request. */
  onBody?: (text: string, request: IncomingMessage) => void;
}

/** Passes everything on to `url`, and the answers back, as they come. Resolves with the address to use instead. */
export async function passOn(url: string, { pace, headers = {}, onBody }: Passing): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const server = createServer(async (incoming, reply) => {
    await pace?.();
    const { url: path, method } = incoming;
    const onward = request({ hostname, port, path, method, headers: { ...incoming.headers, ...headers } });
    onward.once('response', (response) => {
      reply.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(reply);
    });
    onward.once('error', () => reply.destroy());
    reply.once('close', () => onward.destroy());
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => onBody?.(Buffer.concat(chunks).toString(), incoming));
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
}
