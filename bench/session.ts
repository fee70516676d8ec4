import { EVERY_SEAT } from '../src/domain/humans.ts';
import type { Session } from '../src/domain/sessions.ts';
import type { OpenedHive } from '../src/open-hive.ts';

/** Lets the agents of a store ask in a loop. */
export function withoutQuotas({ store }: OpenedHive): Promise<void> {
  return store.write((tx) => tx.desks.setPreferences(EVERY_SEAT, { quotas: false }));
}

/** A session without a client, in whose name the bench asks. */
export async function introduceBench(hive: OpenedHive, session_id: string): Promise<Session> {
  await withoutQuotas(hive);
  return hive.sessions.introduce({
    session_id,
    client: 'bench',
    source: 'main',
    project: 'bench',
    project_dir: '/bench',
    branch: null,
    parent_session_id: null,
    machine: 'bench',
    pid: null,
  });
}
