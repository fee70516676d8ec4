/**
 * Who is let in over HTTP, and with how much: decided before anything of a request is read. No token, no
 * answer, on loopback too, where any web page could otherwise reach us (DNS rebinding: Host and Origin).
 */
import type { IncomingMessage } from 'node:http';
import type { Hive } from '../../application/hive.ts';
import type { Token } from '../../domain/tokens.ts';

export interface Refusal {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

export type Admission = { token: Token } | { refusal: Refusal };

export interface GuardOptions {
  /** Host names that may stand in Host and Origin, without port. */
  hosts: ReadonlySet<string>;
  /** Requests a token may make at once, and how many it gets back a second. */
  burst: number;
  rate: number;
}

export interface HttpGuard {
  admit(request: IncomingMessage): Promise<Admission>;
}

export function createHttpGuard(hive: Hive, { hosts, burst, rate }: GuardOptions): HttpGuard {
  const buckets = new Map<string, { left: number; at: number }>();

  /** A token bucket for each name; no more names than tokens, so it does not grow. */
  function isTooFast(name: string): boolean {
    const now = performance.now();
    const bucket = buckets.get(name) ?? { left: burst, at: now };
    const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * rate);
    buckets.set(name, { left: Math.max(0, left - 1), at: now });
    return left < 1;
  }

  return {
    async admit({ headers }) {
      if (!hosts.has(hostName(headers.host)))
        return refuse(403, 'This Host is none of ours: see hive serve --allow-host.');
      if (headers.origin !== undefined && !hosts.has(originName(headers.origin))) {
        return refuse(403, 'This Origin is none of ours: see hive serve --allow-host.');
      }
      const secret = /^Bearer (\S{1,200})$/i.exec(headers.authorization ?? '')?.[1];
      const token = secret === undefined ? undefined : await hive.tokens.verify(secret);
      if (token === undefined) {
        return {
          refusal: {
            status: 401,
            message: 'A token is needed: Authorization: Bearer … (hive token shows it).',
            headers: { 'WWW-Authenticate': 'Bearer realm="hive"' },
          },
        };
      }
      if (isTooFast(token.name)) {
        return {
          refusal: {
            status: 429,
            message: `More than ${rate} requests a second with one token: slow down.`,
            headers: { 'Retry-After': '1' },
          },
        };
      }
      return { token };
    },
  };
}

function refuse(status: number, message: string): Admission {
  return { refusal: { status, message } };
}

function hostName(host: string | undefined): string {
  return originName(`http://${host ?? ''}`);
}

function originName(origin: string): string {
  return URL.parse(origin)?.hostname ?? '';
}
