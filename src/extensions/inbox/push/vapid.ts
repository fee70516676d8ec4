/**
 * The key pair with which this hive signs its pushes (VAPID, RFC 8292). It is made once: browsers bind their subscriptions to
 * it. The private half is in a file next to the token (0600) and never in the store.
 */
import { createECDH } from 'node:crypto';
import { existsSync, linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiveError } from '../../../domain/errors.ts';
import {
  makeFolders,
  readFileOnly,
  replaceDurably,
  syncPath,
} from '../../../infrastructure/platform/files.ts';

export interface VapidKeys {
  publicKey: string;
  privateKey: string;
}

/** The keys in this file, which is made if there is none. @throws HiveError `store_unsafe` for one that holds no keys. */
export function vapidKeys(path: string): VapidKeys {
  if (existsSync(path)) return read(path);
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys('base64url');
  // A leading zero is part of the key.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url');
  const keys = { publicKey, privateKey };
  makeFolders(dirname(path));
  const draft = `${path}.new.${process.pid}`;
  replaceDurably(draft, `${JSON.stringify(keys)}\n`);
  try {
    linkSync(draft, path);
    syncPath(dirname(path));
  } catch (error) {
    // Another process was first: its keys count for both.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return read(path);
}

function read(path: string): VapidKeys {
  try {
    const { publicKey, privateKey } = JSON.parse(readFileOnly(path)) as Partial<VapidKeys>;
    if (/^B[\w-]{86}$/.test(publicKey ?? '') && /^[\w-]{43}$/.test(privateKey ?? ''))
      return { publicKey, privateKey } as VapidKeys;
  } catch {
    // Not JSON: reported below.
  }
  throw new HiveError(
    'store_unsafe',
    `The file ${path} does not hold the keys for notifications. Remove it, and start again: phones then have to turn notifications on once more.`,
  );
}
