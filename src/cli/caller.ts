/**
 * Who runs this command (invariant 9): the agent that its environment or a process above it tells, else the
 * person at this terminal. An agent's word for who it is would be worth nothing, so there is no option for it.
 */
import { hostname } from 'node:os';
import type { Hive } from '../application/hive.ts';
import { agentVariable, sessionsTold } from '../application/identity.ts';
import { explainHandle } from '../domain/handles.ts';
import type { Prompt } from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import { decideSource, sourceEvidence } from '../domain/sources.ts';
import { findPlace } from '../infrastructure/platform/project.ts';
import { thisSeat } from '../infrastructure/platform/seat.ts';
import { remark } from './output.ts';

export interface Caller {
  session_id: string;
  client: string;
  /** What its person calls it (`HIVE_AGENT`). */
  name: string | null;
  /** What shows that this is an agent, `CLAUDECODE is set`; null for a person. */
  agent_because: string | null;
  /** Every session that the environment tells or that a process above is. */
  sessions: readonly string[];
}

export async function findCaller(hive: Hive, env: NodeJS.ProcessEnv = process.env): Promise<Caller> {
  const above = await hive.sessions.above({ machine: hostname(), pid: process.pid });
  const told = sessionsTold(env);
  const variable = agentVariable(env);
  const nearest = above[0];
  const because =
    variable !== null
      ? `${variable} is set`
      : nearest !== undefined
        ? `it runs under ${nearest.handle}`
        : null;
  // An agent started by an agent inherits its variables: the process above says which of them is meant.
  const named = told.find(({ session_id }) => session_id === nearest?.session_id) ?? told[0] ?? nearest;
  const nameless = because === null ? `cli-${thisSeat()}` : `agent-${thisSeat()}`;
  return {
    session_id: named?.session_id ?? nameless,
    client: named?.client ?? 'cli',
    name: named !== undefined && 'name' in named ? named.name : null,
    agent_because: because,
    sessions: [...told, ...above].map(({ session_id }) => session_id),
  };
}

/** The caller's session, registered when it is new. One that is known stays as its own client described it. */
export async function registerCaller(hive: Hive, { session_id, client, name }: Caller): Promise<Session> {
  const { known, now } = await hive.store.read(async (tx) => ({
    known: await tx.sessions.get(session_id),
    now: tx.now,
  }));
  if (known !== undefined && known.state !== 'ended') {
    if (Date.parse(now) - Date.parse(known.last_seen_at) > TOUCH_MS)
      await hive.store.write((tx) => tx.sessions.touch(session_id, tx.now));
    return known;
  }
  const { env } = process;
  const introduction = {
    ...findPlace(process.cwd()),
    session_id,
    client,
    name,
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // A shell is no agent: recorded as one, it would make everything in it an agent's.
    pid: known?.pid ?? null,
    parent_session_id: env['HIVE_PARENT'] ?? null,
  };
  const session = await hive.sessions.introduce(introduction, process.pid);
  const note = name === null || known !== undefined ? null : explainHandle(name, session.handle);
  if (note !== null) remark(note);
  return session;
}

/** A session that nobody has heard of for long is taken to be gone; a script need not write at each call to be heard. */
const TOUCH_MS = 60 * 60 * 1000;

/** What prints answers to this caller; that the caller comes back proves that it read the last ones. */
export async function carrierOf(hive: Hive, caller: Caller): Promise<string> {
  const carrier = `cli:${caller.session_id}`;
  await hive.delivery.collect(carrier);
  return carrier;
}

/** Whether printing this prompt hands it to its asker: a person who looks at an agent's answer takes nothing away. */
export function isForCaller(prompt: Prompt, caller: Caller): boolean {
  return caller.agent_because !== null || prompt.session_id === caller.session_id;
}
