/** The marks in an environment of the agent that set it. */
import { describe, expect, it } from 'vitest';
import { agentVariable, sessionsInEnvironment } from '../../src/application/identity.ts';

describe('an agent at work', () => {
  it('is seen by any of its variables', () => {
    for (const name of [
      'CLAUDECODE',
      'CLAUDE_CODE_SESSION_ID',
      'CLAUDE_PID',
      'CODEX_THREAD_ID',
      'CODEX_CI',
      'HIVE_AGENT',
    ])
      expect(agentVariable({ [name]: '1' })).toBe(name);
  });

  it("is not seen in a person's own settings, nor in an empty variable", () => {
    expect(
      agentVariable({ CODEX_HOME: '/home/ada/.codex', CLAUDE_CONFIG_DIR: '/x', HOME: '/home/ada' }),
    ).toBeNull();
    expect(agentVariable({ HIVE_AGENT: '' })).toBeNull();
  });
});

describe('the sessions in an environment', () => {
  it('are the same as over MCP', () => {
    expect(sessionsInEnvironment({ CLAUDE_CODE_SESSION_ID: 'c' })).toEqual([
      { session_id: 'c', client: 'claude-code', name: null },
    ]);
    expect(sessionsInEnvironment({ CODEX_SESSION_ID: 's', CODEX_THREAD_ID: 's' })).toEqual([
      { session_id: 's', client: 'codex', name: null },
    ]);
    expect(sessionsInEnvironment({ CODEX_SESSION_ID: 's', CODEX_THREAD_ID: 't' })).toEqual([
      { session_id: 's:t', client: 'codex', name: null },
    ]);
    expect(sessionsInEnvironment({ HIVE_AGENT: 'a' })).toEqual([{ session_id: 'a', client: 'a', name: 'a' }]);
    expect(sessionsInEnvironment({ HOME: '/' })).toEqual([]);
  });

  it('have the name that their person gave, but no subagent has', () => {
    const codex = { HIVE_AGENT: 'a', CODEX_SESSION_ID: 's' };
    expect(sessionsInEnvironment({ ...codex, CODEX_THREAD_ID: 's' })[0]?.name).toBe('a');
    expect(sessionsInEnvironment({ ...codex, CODEX_THREAD_ID: 't' })[0]?.name).toBeNull();
  });

  it('are several where one agent was started by another', () => {
    const told = sessionsInEnvironment({
      HIVE_AGENT: 'a',
      CODEX_THREAD_ID: 't',
      CLAUDE_CODE_SESSION_ID: 'c',
    });
    expect(told.map(({ session_id }) => session_id)).toEqual(['c', 't', 'a']);
    expect(told.map(({ name }) => name)).toEqual(['a', 'a', 'a']);
  });
});
