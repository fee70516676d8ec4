import { EVERY_SEAT } from '../src/domain/humans.ts';
import type { Session } from '../src/domain/sessions.ts';
import type { OpenedHive } from '../src/open-hive.ts';
import { introduction } from '../test/support/introduction.ts';

/** Lets the agents of a store ask in a loop. */
export function withoutQuotas({ store }: OpenedHive): Promise<void> {
  return store.write((tx) => tx.desks.setPreferences(EVERY_SEAT, { quotas: false }));
}

/** A session without a client, in whose name the bench asks. */
export async function introduceBench(hive: OpenedHive, session_id: string): Promise<Session> {
  await withoutQuotas(hive);
  return hive.sessions.introduce(
    introduction({ session_id, client: 'bench', project: 'bench', project_dir: '/bench', machine: 'bench' }),
  );
}
