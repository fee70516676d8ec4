/** `hive sidecar --serve`: an Emacs does what `hive serve` does. */
import type { Hive } from '../../application/hive.ts';
import { invalidInput } from '../../domain/errors.ts';
import { isLoopback } from '../../domain/tokens.ts';
import { portOf, type ServingOptions, startServing } from './serving.ts';

/** Returns the function that ends it. @throws Error if it cannot serve: the address may be in use, perhaps by another Emacs. */
export async function serveBeside(
  hive: Hive,
  address: string,
  inbox: Pick<ServingOptions, 'inbox' | 'startInbox'>,
): Promise<() => Promise<void>> {
  const colon = address.lastIndexOf(':');
  const host = colon === -1 ? '127.0.0.1' : address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  const port = portOf('--serve', address.slice(colon + 1));
  if (!isLoopback(host))
    throw invalidInput(
      `over plain HTTP, anybody on the network between here and ${host} can read the tokens. Run hive serve with --cert and --key instead.`,
    );
  const serving = await startServing(hive, { host, port, allowHost: [], ...inbox });
  if (serving.problem !== null) hive.log.warn(serving.problem);
  hive.log.info('Serving agents on other machines.', { url: serving.url });
  return () => serving.close();
}
