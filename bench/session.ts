import { EVERY_SEAT } from '../src/domain/humans.ts';
import type { Session } from '../src/domain/sessions.ts';
import type { OpenedHive } from '../src/open-hive.ts';

/** As much as a quota can be, so that counting is measured and nothing is refused; what is pending has no limit at all. */
const QUOTAS = {
  quota_pending: 0,
  quota_questions: 1_000_000,
  quota_criticals: 1_000_000,
  quota_mentions: 1_000_000,
  quota_context: 1_000_000,
};

/** Lets the agents of a store ask in a loop. */
export function raiseQuotas({ store }: OpenedHive): Promise<void> {
  return store.write((tx) => tx.desks.setPreferences(EVERY_SEAT, QUOTAS));
}

/** No quotas at all: what is measured is the engine, with as little beside it as before there were any. */
function liftQuotas({ store }: OpenedHive): Promise<void> {
  const none = Object.fromEntries(Object.keys(QUOTAS).map((name) => [name, 0]));
  return store.write((tx) => tx.desks.setPreferences(EVERY_SEAT, none));
}

/** A session without a client, in whose name the bench asks. */
export async function introduceBench(hive: OpenedHive, session_id: string): Promise<Session> {
  await liftQuotas(hive);
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
