/** Common queries of tests of outreach. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HiveError } from '../../src/domain/errors.ts';
import { BUDGET_BUCKET } from '../../src/domain/outreach.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { Source } from '../../src/domain/sources.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from './children.ts';
import { openDesk } from './dialogs.ts';
import { introduction } from './hive.ts';
import { post } from './messages.ts';

/** A session of a source, in the project of all the others. */
export function agent(
  hive: OpenedHive,
  session_id: string,
  source: Source = 'bg',
  parent: string | null = null,
): Promise<Session> {
  return hive.sessions.introduce(introduction({ session_id, source, parent_session_id: parent }));
}

/** The error of a refused call. */
export async function refusalOf(work: Promise<unknown>): Promise<HiveError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HiveError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** The remaining credits; null until one is taken. */
export async function creditsOf(hive: OpenedHive, name = '*'): Promise<number | null> {
  return (await hive.store.read((tx) => tx.outreach.bucket(name)))?.credits ?? null;
}

/** Claude Code without a person, according to the environment of its hooks. */
export const HEADLESS = { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_SESSION_ATTENDED: '0' };
/** The sessions of the recorded events. */
export const CLAUDE = '5e551000-0000-4000-8000-000000000001';
export const CODEX = '00000000-0000-7000-8000-000000000001';

/** The stdin of one recorded event. */
export function recorded(client: 'claude-code' | 'codex', name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(ROOT, 'test/wire/fixtures', client, `${name}.json`), 'utf8')) as Record<
    string,
    unknown
  >;
}

/** Opens a desk, unless one is open already, so that somebody is there to see what is sent. */
export async function attended(hive: OpenedHive): Promise<OpenedHive> {
  if ((await hive.desks.online()).length === 0) await openDesk(hive);
  return hive;
}

/** Leaves so many credits of the budget of background sessions. */
export async function leaveCredits(hive: OpenedHive, credits: number): Promise<OpenedHive> {
  await hive.store.write((tx) => tx.outreach.putBucket({ name: BUDGET_BUCKET, credits, since: tx.now }));
  return hive;
}

export async function ping(hive: OpenedHive, session_id: string, message = 'Look'): Promise<void> {
  await attended(hive);
  const session = await hive.sessions.resolve(session_id);
  await hive.outreach.ping({ message }, session);
}

/** The human mentions somebody; the id of the mention. */
export async function mention(
  hive: OpenedHive,
  body: string,
  priority: 'normal' | 'urgent',
): Promise<string> {
  const { mentions } = await post(hive, 'human', body, { priority });
  return mentions[0]?.mention_id ?? '';
}

export async function report(hive: OpenedHive, session_id: string): Promise<void> {
  await hive.outreach.report({ message: 'All done.' }, await hive.sessions.resolve(session_id));
}
