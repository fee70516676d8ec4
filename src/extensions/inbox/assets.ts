/** The files of the page: read once, compressed once, and sent with an ETag. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A file of the page as it is sent. */
interface Asset {
  type: string;
  bytes: Buffer;
  zipped: Buffer;
  tag: string;
}

/** By path. */
export type Assets = ReadonlyMap<string, Asset>;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
};

/** The files, by name, as assets under a path; index.html is the path itself. */
export function assetsAt(path: string, files: ReadonlyMap<string, Buffer>): Assets {
  const assets = new Map<string, Asset>();
  for (const [name, bytes] of files) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    const at = name === 'index.html' ? path : `${path}/${name}`;
    assets.set(at, { type, bytes, zipped: gzipSync(bytes, { level: 9 }), tag });
  }
  return assets;
}

export function sendAsset(
  request: IncomingMessage,
  response: ServerResponse,
  asset: Asset | undefined,
): void {
  if (asset === undefined) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end('Nothing is served here; the inbox is at /inbox.\n');
    return;
  }
  const { type, bytes, zipped, tag } = asset;
  // The browser checks each time whether the file has changed; the service worker keeps it for when the server cannot be reached.
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept-Encoding');
  // The service worker also serves the page itself, whose path is above its own.
  response.setHeader('Service-Worker-Allowed', '/inbox');
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304);
    response.end();
    return;
  }
  const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = isZipped ? zipped : bytes;
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Length': body.length,
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
