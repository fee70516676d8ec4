/** The caller of a tool as one who acts. */
import type { AgentActor } from '../../domain/actors.ts';
import type { Session } from '../../domain/sessions.ts';

export function agentActor({ handle, session_id }: Session): AgentActor {
  return { kind: 'agent', by: handle, via: 'mcp', session_id, ancestors: [] };
}
