/** The interface between `hive serve` and the inbox, two extensions that do not import each other. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Hive } from '../application/hive.ts';

export interface Inbox {
  /** Whether this path is the inbox's. */
  owns(path: string): boolean;
  listener: RequestListener;
  /** Ends every stream. */
  close(): Promise<void>;
}

export interface InboxOptions {
  /** The built page. */
  folder: string;
  /** The file of the key that signs notifications; made if it is not there. */
  key_file: string;
  /** The names under which the server is reached. */
  hosts: ReadonlySet<string>;
  tls: boolean;
  /** Called with a request that has shown the session of a device. */
  onAdmitted: (request: IncomingMessage) => void;
  /** The address of the inbox, which push services may ask for; null until it is known. */
  contact: () => string | null;
}

/** @throws HiveError `invalid_input` where the page was not built. */
export type StartInbox = (hive: Hive, options: InboxOptions) => Promise<Inbox>;
