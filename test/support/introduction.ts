/** A session that a client introduces; without the test runner, for programs that tests start. */
import type { SessionIntroduction } from '../../src/domain/sessions.ts';

export function introduction(changes: Partial<SessionIntroduction> = {}): SessionIntroduction {
  return {
    session_id: 'session-1',
    client: 'claude-code',
    source: 'main',
    project: 'demo',
    project_dir: '/demo/.git',
    branch: null,
    parent_session_id: null,
    machine: 'test',
    pid: null,
    ...changes,
  };
}
