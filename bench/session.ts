import type { Session } from '../src/domain/sessions.ts';
import type { OpenedHive } from '../src/open-hive.ts';

/** A session without a client, in whose name the bench asks. */
export function introduceBench(hive: OpenedHive, session_id: string): Promise<Session> {
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
