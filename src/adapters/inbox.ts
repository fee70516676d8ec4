/** The interface between `hive serve` and the inbox, two extensions that do not import each other. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Hive } from '../application/hive.ts';
import { invalidInput } from '../domain/errors.ts';

export interface Inbox {
  /** Whether this path is the inbox's. */
  owns(path: string): boolean;
  listener: RequestListener;
  /** Records that phones reach it at that address, until the returned function is called. @throws if that cannot be recorded. */
  servedAt(address: string): () => void;
  /** Ends every stream. */
  close(): Promise<void>;
}

export interface InboxOptions {
  /** The built page. */
  folder: string;
  /** The file of the key that signs notifications; created if it is missing. */
  key_file: string;
  /** The names under which the server is reached. */
  hosts: ReadonlySet<string>;
  tls: boolean;
  /** Called with a request that has shown the session of a device. */
  onAdmitted: (request: IncomingMessage) => void;
  /** The address of the inbox, which push services may ask for; null until it is known. */
  contact: () => string | null;
}

/** @throws HiveError `invalid_input` if the page was not built. */
export type StartInbox = (hive: Hive, options: InboxOptions) => Promise<Inbox>;

/** The path of the inbox on every server. */
export const INBOX_PATH = '/inbox';

/** The address of the inbox, as its human wrote it or without the path. @throws HiveError `invalid_input`. */
export function inboxAddress(given: string): string {
  const url = URL.parse(given);
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '') &&
    ['/', INBOX_PATH, `${INBOX_PATH}/`].includes(url.pathname);
  if (!isPlain)
    throw invalidInput(`${given} is not the address of an inbox, such as https://hive.example.org.`);
  return `${url.origin}${INBOX_PATH}`;
}
