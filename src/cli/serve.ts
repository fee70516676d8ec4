/** `hive serve`: MCP over Streamable HTTP for agents on other machines, on loopback unless told otherwise. */
import type { Command } from 'commander';
import { invalidInput } from '../domain/errors.ts';
import { openHive } from '../open-hive.ts';
import { untilSignalled } from './lifetime.ts';
import { remark } from './output.ts';
import { startServing } from './serving.ts';

interface ServeOptions {
  host: string;
  port: string;
  allowHost: string[];
  cert?: string;
  key?: string;
}

export function defineServe(command: Command): void {
  command
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes a free one', '7373')
    .option('--allow-host <name...>', 'further host names that clients may use', [])
    .option('--cert <file>', 'TLS certificate, PEM')
    .option('--key <file>', 'TLS key, PEM')
    .action((options: ServeOptions) => serve(options));
}

async function serve({ port, ...options }: ServeOptions): Promise<void> {
  const stop = untilSignalled();
  const number = portOf('--port', port);
  const hive = await openHive();
  hive.startExpiry();
  try {
    const serving = await startServing(hive, { ...options, port: number });
    if (serving.made_token !== null)
      remark(`A first token was made; it lies in ${serving.made_token} (hive token show).`);
    process.stdout.write(`Serving MCP at ${serving.url}\n`);
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    await serving.close();
  } finally {
    await hive.close();
  }
  process.exit(0);
}

/** @throws HiveError `invalid_input`. */
export function portOf(what: string, text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidInput(`${what} ${text} is no port: 0 to 65535.`);
  return port;
}
