/** The human's file trust.json, for programs that tests start. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './children.ts';
import { tempFolder } from './temp.ts';

/** An environment in which the human has written this into their file. */
export function trusting(content: object | string, mode = 0o600): Environment {
  const config = tempFolder();
  mkdirSync(join(config, 'hive'), { mode: 0o700 });
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(trustFileOf(config), text, { mode });
  return { XDG_CONFIG_HOME: config };
}

/** Where that file is, below `XDG_CONFIG_HOME`. */
export function trustFileOf(config: string | undefined): string {
  return join(config ?? '', 'hive/trust.json');
}
