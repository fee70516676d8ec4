/** `hive attach`: servers of agents that offer their questions to everybody who is connected. Hive shows them at the desks. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../../cli/exit-codes.ts';
import { remark } from '../../../cli/output.ts';
import { untilSignalled, withHive } from '../../../cli/program.ts';
import { invalidInput } from '../../../domain/errors.ts';
import { isLoopback } from '../../../domain/tokens.ts';
import { attachOpencode } from './attach.ts';
import { opencodeServer, type ServerAddress } from './server.ts';

/** Where `opencode serve` listens by default. */
const DEFAULT_URL = 'http://127.0.0.1:4096';

interface AttachOptions {
  untilStdinEnds?: boolean;
}

export function defineAttach(command: Command): void {
  command
    .argument('<agent>', 'opencode')
    .argument('[url...]', `where its servers listen (default: ${DEFAULT_URL})`)
    .option('--until-stdin-ends', 'end when stdin does, as under a sidecar')
    .action((agent: string, urls: string[], options: AttachOptions) =>
      withHive({}, async (hive): Promise<ExitCode> => {
        if (agent !== 'opencode') throw invalidInput(`hive attach knows only opencode, not "${agent}".`);
        const addresses = addressesOf(urls.length === 0 ? [DEFAULT_URL] : urls, process.env);
        const stop = untilSignalled();
        const ended = new AbortController();
        if (options.untilStdinEnds === true)
          process.stdin
            .on('close', () => ended.abort())
            .on('error', () => ended.abort())
            .resume();
        hive.startExpiry();
        const signal = AbortSignal.any([stop, ended.signal]);
        await Promise.all(
          addresses.map((address) =>
            attachOpencode({
              ...{ hive, signal, remark },
              server: opencodeServer(address),
              machine: hostname(),
              pid: process.pid,
            }),
          ),
        );
        return EXIT.done;
      }),
    );
}

/** Each server once. @throws HiveError `invalid_input` for a server that is not on this machine. */
function addressesOf(urls: readonly string[], env: NodeJS.ProcessEnv): ServerAddress[] {
  const { OPENCODE_SERVER_USERNAME: user = 'opencode', OPENCODE_SERVER_PASSWORD: password } = env;
  const login = password === undefined || password === '' ? null : { user, password };
  const found = urls.map((given) => {
    const url = URL.canParse(given) ? new URL(given) : null;
    if (url === null || url.protocol !== 'http:')
      throw invalidInput(`"${given}" is not the address of a server. Give it as http://127.0.0.1:PORT.`);
    // Rules and directories are looked up on this machine.
    if (!isLoopback(url.hostname))
      throw invalidInput(
        `${given} is not on this machine. Run hive attach where opencode runs, with the same store.`,
      );
    return url.origin;
  });
  return [...new Set(found)].map((url) => ({ url, login }));
}
