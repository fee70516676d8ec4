/** `hiveServer`: our tools for an agent of the SDK, as an entry of its `mcpServers`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** An entry of `mcpServers`, as the SDK takes it. */
export interface ServerEntry {
  /** The server is a process. */
  type: 'stdio';
  /** This Node. */
  command: string;
  /** The program `hive` of this package, and `mcp`. */
  args: string[];
  /** What its process gets beside what the SDK gives it. */
  env?: Record<string, string>;
  /** Its tools are there from the start, not found by a search. */
  alwaysLoad: boolean;
}

/** The `hive mcp` of this very package. `env` is what its process gets beside what the SDK gives it. */
export function hiveServer(env?: Record<string, string>): ServerEntry {
  return {
    type: 'stdio',
    command: process.execPath,
    args: [program(), 'mcp'],
    ...(env === undefined ? {} : { env }),
    alwaysLoad: true,
  };
}

/** Beside `dist/`, wherever this file lies in it. */
function program(): string {
  for (let folder = import.meta.dirname; folder !== join(folder, '..'); folder = join(folder, '..')) {
    const found = join(folder, 'bin/hive');
    if (existsSync(found)) return found;
  }
  throw new Error('The program bin/hive of this package is not where it belongs: install it anew.');
}
