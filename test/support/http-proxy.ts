/** A reverse proxy on loopback, whose answers a test may give itself. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

/** True if it has answered the request, whose body is `text`. */
type Answering = (request: IncomingMessage, text: string, response: ServerResponse) => boolean;

export interface HttpProxy {
  /** The address of what is at `target` through this proxy. */
  url: string;
  /** Asked first from now on; null: everything is passed on again. */
  answering(answer: Answering | null): void;
  /** The status of each answer that came from the proxy itself because its target is away. */
  refused: number[];
}

export async function httpProxy(target: string): Promise<HttpProxy> {
  const { hostname, port, pathname } = new URL(target);
  let own: Answering | null = null;
  const refused: number[] = [];

  function pass(request: IncomingMessage, text: string, response: ServerResponse): void {
    const { method, url: path, headers } = request;
    const passed = httpRequest({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      response.flushHeaders();
      answer.once('error', () => response.destroy());
      answer.pipe(response);
    });
    passed.once('error', () => {
      if (response.headersSent) return void response.destroy();
      refused.push(502);
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>502 Bad Gateway</html>');
    });
    response.once('close', () => passed.destroy());
    passed.end(text);
  }

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    if (own?.(request, text, response) !== true) pass(request, text, response);
  });
  return {
    url: `${await listen(server)}${pathname}`,
    answering(answer) {
      own = answer;
    },
    refused,
  };
}
