/**
 * Web Push (RFC 8030): a push is encrypted for one browser (RFC 8291), so the service that carries it sees no text, and signed
 * with the key of this hive (RFC 8292). The library does both. The request is made here, because a device chose its address:
 * it goes only to a public address, and only the beginning of a reply is read, and only if it is a refusal.
 */
import { createECDH } from 'node:crypto';
import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import webPush from 'web-push';

import type { PushTarget } from '../../../domain/devices.ts';
import { cleanText, excerpt } from '../../../domain/text.ts';
import { deliveryOf, type PushReply, type PushSender } from '../pushes.ts';
import type { VapidKeys } from './vapid.ts';

export interface WebPushOptions {
  keys: VapidKeys;
  /** A URL where the operator of a push service finds the sender. Read at each push. */
  contact?: (() => string | null) | undefined;
  /** How long a push service may take. */
  limit_ms?: number | undefined;
  /** Also sends over http to 127.0.0.1: tests play the push service there. */
  loopback?: boolean | undefined;
  /** Resolves a name; tests make one point to this machine. */
  names?: ((name: string) => string) | undefined;
}

/**
 * The contact of a push (RFC 8292, 2.1): the https address of the inbox. Without one, only a browser on this machine can use the
 * inbox, and the contact is the person at this machine. Apple refuses a push whose contact cannot exist.
 */
function subjectOf(address: string | null): string {
  return address?.startsWith('https://') === true ? address : `mailto:postmaster@${hostname()}`;
}

/** How many characters of a refusal are kept: push services give the reason in a word or a sentence. */
const KEPT = 300;
const LIMIT_MS = 10_000;
const LONGEST_ENDPOINT = 1_000;

/** Addresses that are not on the public internet (RFC 6890, and those that clouds use internally). */
const INTERNAL = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  INTERNAL.addSubnet(net, bits, 'ipv4');
/** The range of all public IPv6 addresses, and of some that are not public. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  INTERNAL.addSubnet(net, bits, 'ipv6');

/**
 * Whether an address is on the public internet, and in no network of this machine: with IPv6, machines inside a firewall have
 * public addresses.
 */
export function isPublicAddress(
  address: string,
  own: readonly Subnet[] = Object.values(networkInterfaces()).flatMap((each) => each ?? []),
): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped, own);
  const family = isIP(address);
  if (family === 0 || isWithin(address, own)) return false;
  if (family === 4) return !INTERNAL.check(address, 'ipv4');
  return family === 6 && GLOBAL.check(address, 'ipv6') && !INTERNAL.check(address, 'ipv6');
}

/** The address of an interface with its network, as the system names them: `2001:db8::5/64`. */
type Subnet = Pick<NetworkInterfaceInfo, 'cidr' | 'family'>;

function isWithin(address: string, own: readonly Subnet[]): boolean {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const networks = new BlockList();
  for (const { cidr, family: of } of own) {
    const [net, bits] = cidr?.split('/') ?? [];
    if (net !== undefined && of.toLowerCase() === family) networks.addSubnet(net, Number(bits), family);
  }
  return networks.check(address, family);
}

export function createWebPush({
  keys,
  contact = () => null,
  limit_ms = LIMIT_MS,
  loopback = false,
  names = (name) => name,
}: WebPushOptions): PushSender {
  const isLoopback = ({ protocol, hostname }: URL): boolean =>
    loopback && protocol === 'http:' && hostname === '127.0.0.1';

  function refusal({ endpoint, keys: { p256dh, auth } }: PushTarget): string | null {
    const url = endpoint.length > LONGEST_ENDPOINT ? null : URL.parse(endpoint);
    if (url === null) return 'The address of a push service is a URL of at most 1,000 characters.';
    if (!isKey(p256dh) || Buffer.from(auth, 'base64url').length !== 16)
      return 'The keys of the subscription are not valid.';
    if (isLoopback(url)) return null;
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      return 'A push service is reached over https, without a password.';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isPublic =
      isIP(host) === 0 ? /\.[a-z][a-z0-9-]*$/i.test(host) && !INNER_NAMES.test(host) : isPublicAddress(host);
    return isPublic ? null : 'A push service has a public address.';
  }

  return {
    key: keys.publicKey,
    refusal,
    async send(target, message, signal) {
      const refused = refusal(target);
      // Not to be tried again: an older version of Hive may have stored the address.
      if (refused !== null) return { status: 400, retry_after: null, text: refused };
      const { ttl_s, urgency, topic } = deliveryOf(message);
      const { headers, body } = webPush.generateRequestDetails(target, JSON.stringify(message), {
        vapidDetails: {
          subject: subjectOf(contact()),
          publicKey: keys.publicKey,
          privateKey: keys.privateKey,
        },
        TTL: ttl_s,
        urgency,
        ...(topic !== null && { topic }),
      });
      const url = new URL(target.endpoint);
      return post(url, {
        headers,
        body,
        limit_ms,
        signal,
        lookup: isLoopback(url) ? undefined : lookupPublic(names),
      });
    },
  };
}

/** Names that people and machines use for their own network. */
const INNER_NAMES = /(?:^|\.)(?:localhost|local|internal|lan|home|corp|home\.arpa)$/i;

/** Whether this is a point on the curve P-256, uncompressed. */
function isKey(p256dh: string): boolean {
  const bytes = Buffer.from(p256dh, 'base64url');
  if (bytes.length !== 65) return false;
  try {
    const own = createECDH('prime256v1');
    own.generateKeys();
    own.computeSecret(bytes);
    return true;
  } catch {
    return false;
  }
}

interface Posted {
  headers: Record<string, unknown>;
  body: unknown;
  limit_ms: number;
  signal: AbortSignal;
  /** Undefined for this machine, over http. */
  lookup: LookupFunction | undefined;
}

/** One request, which follows no redirection. */
function post(url: URL, { headers, body, limit_ms, signal, lookup: found }: Posted): Promise<PushReply> {
  return new Promise((resolve) => {
    const failed = (text: string): void => resolve({ status: null, retry_after: null, text });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limit_ms)]);
    const request = (found === undefined ? httpRequest : httpsRequest)(url, {
      method: 'POST',
      headers: headers as Record<string, string>,
      agent: false,
      signal: limit,
      ...(found !== undefined && { lookup: found }),
    });
    request.on('response', (response) => {
      const retry_after = response.headers['retry-after'] ?? null;
      const status = response.statusCode ?? 500;
      const answer = (text: string): void => {
        resolve({ status, retry_after, text: excerpt(cleanText(text), KEPT) });
        response.destroy();
      };
      if (status < 300) return answer('');
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > KEPT) answer(text);
      });
      // Also if the body stops in the middle: the status has arrived.
      for (const end of ['end', 'error', 'close']) response.once(end, () => answer(text));
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) failed('The process that should have sent it has ended.');
      else if (limit.aborted) failed(`The push service did not answer within ${limit_ms / 1000} s.`);
      else failed(`The push service could not be reached (${error.code ?? error.message}).`);
    });
    request.end(body as Buffer);
  });
}

/** Refuses a name whose DNS points into this network. This is done while connecting, so the address cannot change in between. */
function lookupPublic(names: (name: string) => string): LookupFunction {
  return (hostname, options, callback) => {
    lookup(names(hostname), { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address)))
        return callback(Object.assign(new Error('not a public address'), { code: 'EPRIVATE' }), '', 0);
      if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
