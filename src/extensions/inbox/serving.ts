/** The inbox as `hive serve --inbox` serves it: the page, its calls, and the notifications of phones. */
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { INBOX_PATH, type Inbox, type InboxOptions } from '../../adapters/inbox.ts';
import type { Hive } from '../../application/hive.ts';
import { invalidInput } from '../../domain/errors.ts';
import { thisSeat } from '../../infrastructure/platform/paths.ts';
import { assetsAt } from './assets.ts';
import { createInbox } from './http.ts';
import { startPhones } from './phones.ts';
import { vapidKeys } from './push/vapid.ts';
import { createWebPush } from './push/web-push.ts';

/** @throws HiveError `invalid_input` where the page was not built. */
export async function startInbox(
  hive: Hive,
  { folder, key_file, hosts, tls, onAdmitted, contact }: InboxOptions,
): Promise<Inbox> {
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes('index.html'))
    throw invalidInput(`There is no page of the inbox in ${folder}. In a clone, run: npm run build`);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name))] as const),
  );
  const push = createWebPush({ keys: vapidKeys(key_file), contact });
  const stopPhones = startPhones(hive, push, { name: `inbox:${hostname()}:${process.pid}` });
  const inbox = createInbox(hive, {
    assets: assetsAt(INBOX_PATH, new Map(files)),
    hosts,
    tls,
    seat: thisSeat(),
    pid: process.pid,
    push,
    onAdmitted,
  });
  return {
    ...inbox,
    async close() {
      await Promise.all([inbox.close(), stopPhones()]);
    },
  };
}
