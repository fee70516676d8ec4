/** Where the token that was made on first start lies, so that the person can look it up: 0600, beside the store. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateDirectory, storeAddress } from '../infrastructure/platform/paths.ts';

/** The token that `hive serve` makes when there is none. */
export const FIRST_TOKEN = 'default';

export function tokenFile(env: NodeJS.ProcessEnv): string {
  const store = storeAddress(env);
  return join(store.includes('://') ? stateDirectory(env) : dirname(store), 'token');
}

export function writeTokenFile(env: NodeJS.ProcessEnv, secret: string): string {
  const path = tokenFile(env);
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}

/** The secret in the file; null where there is none. */
export function readTokenFile(env: NodeJS.ProcessEnv): string | null {
  try {
    return readFileSync(tokenFile(env), 'utf8').trim();
  } catch {
    return null;
  }
}
