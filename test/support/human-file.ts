/** The human's file trust.json, for programs that tests start. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './children.ts';
import { tempFolder } from './temp.ts';

/** An environment in which the human has written this into their file. */
export function trusting(content: object | string, mode = 0o600): Environment {
  return trustingIn(tempFolder(), content, mode);
}

/** The same in a folder of the test's own. */
export function trustingIn(config: string, content: object | string, mode = 0o600): Environment {
  mkdirSync(join(config, 'hive'), { recursive: true, mode: 0o700 });
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(trustFileOf(config), text, { mode });
  return { XDG_CONFIG_HOME: config };
}

/** Where that file is, below `XDG_CONFIG_HOME`. */
export function trustFileOf(config: string | undefined): string {
  return join(config ?? '', 'hive/trust.json');
}
