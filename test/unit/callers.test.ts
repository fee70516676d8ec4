/** The caller, decided from recorded calls of the real clients. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CallerEvidence, identifyCaller } from '../../src/application/callers.ts';
import { ENDED } from '../support/ended-process.ts';

type Environment = Record<string, string>;

function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../wire/fixtures', name), 'utf8')) as T;
}

function metaOf(name: string): Record<string, unknown> {
  return recorded<{ params: { _meta: Record<string, unknown> } }>(name).params._meta;
}

const NOWHERE: CallerEvidence = {
  env: {},
  meta: {},
  client: '',
  connection_id: 'connection-abc',
  project: { project: 'demo', project_dir: '/demo/.git', branch: 'main' },
  machine: 'machine',
  parent_pid: ENDED,
};

function identify(evidence: Partial<CallerEvidence>): ReturnType<typeof identifyCaller> {
  return identifyCaller({ ...NOWHERE, ...evidence });
}

const ONE = '00000000-0000-7000-8000-000000000001';
const TWO = '00000000-0000-7000-8000-000000000002';
const CLAUDE = '5e551000-0000-4000-8000-000000000001';

describe('Codex', () => {
  test('sends its session with each call', () => {
    const { introduction, advice } = identify({
      meta: metaOf('codex-tools-call.json'),
      client: 'codex-mcp-client',
    });
    expect(introduction).toMatchObject({ session_id: ONE, client: 'codex', parent_session_id: null });
    expect(advice).toBeNull();
  });

  test('does so from code mode too', () => {
    const { introduction } = identify({ meta: metaOf('codex-tools-call-codemode.json') });
    expect(introduction).toMatchObject({ session_id: TWO, parent_session_id: null });
  });

  test('sends a subagent as a thread of its session', () => {
    const { introduction } = identify({ meta: metaOf('codex-tools-call-subagent.json') });
    expect(introduction).toMatchObject({ session_id: `${ONE}:${TWO}`, parent_session_id: ONE });
  });

  test('in an editor is the session that the editor knows, unless its hooks report it', () => {
    const env = { HIVE_SESSION: 'editor-1' };
    const { introduction, hooks_id } = identify({ env, meta: metaOf('codex-tools-call.json') });
    expect(introduction).toMatchObject({ session_id: 'editor-1', client: 'codex', parent_session_id: null });
    expect(hooks_id).toBe(ONE);
    const subagent = identify({ env, meta: metaOf('codex-tools-call-subagent.json') });
    expect(subagent.introduction).toMatchObject({
      session_id: `editor-1:${TWO}`,
      parent_session_id: 'editor-1',
    });
    expect(subagent.hooks_id).toBe(`${ONE}:${TWO}`);
  });
});

describe('Claude Code', () => {
  test.each([
    ['claude-env-mcp-child-tui.json', 'main'],
    ['claude-env-mcp-child-headless.json', 'bg'],
  ])('has its session in the environment (%s runs as %s)', (file, source) => {
    const { introduction, advice } = identify({ env: recorded<Environment>(file), client: 'claude-code' });
    expect(introduction).toMatchObject({ session_id: CLAUDE, client: 'claude-code', source });
    expect(advice).toBeNull();
  });

  test('takes its source from HIVE_SOURCE if that is set', () => {
    const env = recorded<Environment>('claude-env-mcp-child-headless.json');
    expect(identify({ env: { ...env, HIVE_SOURCE: 'main' } }).introduction.source).toBe('main');
  });
});

describe('any other client', () => {
  test('is called what HIVE_AGENT says even if its client sends a session; a subagent is not', () => {
    const env = { HIVE_AGENT: 'planner' };
    const claude = identify({ env: { ...env, CLAUDE_CODE_SESSION_ID: 'c' } }).introduction;
    expect(claude).toMatchObject({ session_id: 'c', name: 'planner' });
    const codex = (threadId: string) => identify({ env, meta: { sessionId: 's', threadId } }).introduction;
    expect(codex('s')).toMatchObject({ session_id: 's', name: 'planner' });
    expect(codex('t')).toMatchObject({ session_id: 's:t', name: null });
  });

  test('is who HIVE_AGENT says', () => {
    const { introduction, advice } = identify({ env: { HIVE_AGENT: 'planner' }, client: 'cursor' });
    expect(introduction).toMatchObject({ session_id: 'planner', client: 'cursor' });
    expect(advice).toBeNull();
  });

  test('is identified by its connection if nothing else does, and is told how to get an identity', () => {
    const { introduction, advice } = identify({ client: 'cursor' });
    expect(introduction.session_id).toBe('connection-abc');
    expect(advice).toContain('HIVE_AGENT');
  });

  test('is sent to hive init only if that can set it up', () => {
    const advice = (client: string): string => identify({ client }).advice ?? '';
    expect(advice('claude-code')).toMatch(/hive init claude$/);
    expect(advice('codex-mcp-client')).toMatch(/hive init codex$/);
    for (const client of ['cursor', 'claude-ai', 'Zed', ''])
      expect(advice(client)).not.toContain('hive init');
  });

  test('is ignored where it sends no text', () => {
    const meta = { sessionId: { a: 1 }, threadId: 7 };
    expect(identify({ meta, env: { HIVE_AGENT: '' } }).introduction.session_id).toBe('connection-abc');
  });

  test('has clean text in its identity', () => {
    const { introduction } = identify({ meta: { sessionId: 'a\0b\ud800' }, client: 'x\0' });
    expect(introduction.session_id).toBe('a\ufffdb\ufffd');
    expect(identify({ client: 'x\0' }).introduction.client).toBe('x\ufffd');
  });
});

test('a parent is named by HIVE_PARENT', () => {
  const env = { HIVE_AGENT: 'child', HIVE_PARENT: 'boss' };
  expect(identify({ env }).introduction.parent_session_id).toBe('boss');
  const composed = { ...env, HIVE_PARENT: 'Jose\u0301' };
  expect(identify({ env: composed }).introduction.parent_session_id).toBe('Jos\u00e9');
});

test('project, machine and process come with every identity', () => {
  expect(identify({}).introduction).toMatchObject({ ...NOWHERE.project, machine: 'machine', pid: ENDED });
});
