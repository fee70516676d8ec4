/** `hive sidecar --serve`: an Emacs does what `hive serve` does. */
import type { Hive } from '../../application/hive.ts';
import { invalidInput } from '../../domain/errors.ts';
import { isLoopback } from '../../domain/tokens.ts';
import { portOf, type ServingOptions, startServing } from './serving.ts';

/** Returns what ends it. The address may be taken, perhaps by another Emacs; that must not cost the human their desk. */
export async function serveBeside(
  hive: Hive,
  address: string,
  inbox: Pick<ServingOptions, 'inbox' | 'inboxUrl' | 'startInbox'>,
): Promise<(() => Promise<void>) | null> {
  const colon = address.lastIndexOf(':');
  const host = colon === -1 ? '127.0.0.1' : address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  try {
    const port = portOf('--serve', address.slice(colon + 1));
    if (!isLoopback(host))
      throw invalidInput(
        `over plain HTTP, anybody on the network between here and ${host} can read the tokens. Run hive serve with --cert and --key instead.`,
      );
    const serving = await startServing(hive, { host, port, allowHost: [], ...inbox });
    if (serving.problem !== null) hive.log.warn(serving.problem);
    hive.log.info('Serving agents on other machines.', { url: serving.url });
    return () => serving.close();
  } catch (error) {
    const text = `This Emacs does not serve agents on other machines: ${error instanceof Error ? error.message : String(error)}`;
    hive.log.error(text);
    await hive.notices
      .give({ severity: 'warning', session_id: null, text })
      .catch((oops: unknown) =>
        hive.log.error('A notice for the human could not be stored.', { error: String(oops) }),
      );
    return null;
  }
}
