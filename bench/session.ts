import type { Session } from '../src/domain/sessions.ts';
import type { OpenedHive } from '../src/open-hive.ts';

/** A session that no client stands behind, to ask in its name. */
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
