/** `hive serve`: agents on other machines over HTTP, and the inbox for phones. */
import type { Command } from 'commander';
import type { StartInbox } from '../../adapters/inbox.ts';
import type { Hive } from '../../application/hive.ts';
import { refuseAgents } from '../../cli/actor.ts';
import { print, remark } from '../../cli/output.ts';
import { untilSignalled } from '../../cli/program.ts';
import { invalidInput } from '../../domain/errors.ts';
import { isLoopback } from '../../domain/tokens.ts';
import { openHive } from '../../open-hive.ts';
import { portOf, startServing } from './serving.ts';

interface ServeOptions {
  host: string;
  port: string;
  allowHost?: string[];
  cert?: string;
  key?: string;
  insecure?: boolean;
  inbox?: true | string;
}

/** The parts of other extensions that `hive serve` starts: the inbox for `--inbox`, and sleeping runs. */
interface Beside {
  startInbox: StartInbox;
  resumeRuns: (hive: Hive) => Promise<void>;
}

export function defineServe(command: Command, beside: Beside): void {
  command
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes a free one', '7373')
    .option('--allow-host <name...>', 'further host names that clients may use')
    .option('--cert <file>', 'TLS certificate, PEM')
    .option('--key <file>', 'TLS key, PEM')
    .option('--insecure', 'allow plain http from other machines')
    .option('--inbox [url]', 'serve the inbox too, which paired phones reach at this address (of a proxy)')
    .action((options: ServeOptions) => serve(options, beside));
}

async function serve(
  { port, allowHost = [], insecure = false, ...options }: ServeOptions,
  { startInbox, resumeRuns }: Beside,
): Promise<void> {
  const stop = untilSignalled();
  const number = portOf('--port', port);
  if (options.cert === undefined && !insecure && !isLoopback(options.host))
    throw invalidInput(
      `Over plain HTTP, anybody on the network between here and ${options.host} can read the tokens. Use --cert and --key, listen on 127.0.0.1 behind a proxy with TLS, or add --insecure.`,
    );
  const hive = await openHive();
  try {
    await refuseAgents(hive, 'accept connections from other machines');
    hive.startExpiry();
    await resumeRuns(hive);
    const serving = await startServing(hive, { ...options, allowHost, port: number, startInbox });
    if (serving.made_token !== null)
      remark(`Made the first token and wrote it to ${serving.made_token}. hive token show prints it.`);
    print(`Serving MCP at ${serving.url}`);
    if (serving.inbox_url !== null)
      print(`Serving the inbox at ${serving.inbox_url}. Pair a phone with: hive phone add`);
    if (serving.problem !== null) remark(serving.problem);
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    await serving.close();
  } finally {
    await hive.close();
  }
  process.exit(0);
}
