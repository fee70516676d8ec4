/** The surroundings of one run: the programs, a home that is also the project, a store with a hive open on it. */
import { realpathSync } from 'node:fs';
import { inject, onTestFinished } from 'vitest';
import { agentAuthor } from '../../../src/domain/messages.ts';
import { addSeat } from '../../../src/infrastructure/platform/seat-file.ts';
import type { OpenedHive } from '../../../src/open-hive.ts';
import { openHive } from '../../../src/open-hive.ts';
import { openDesk } from '../../support/dialogs.ts';
import { eventsOf, introduce, prefer, SEAT, SEAT_SECRET } from '../../support/hive.ts';
import { trusting } from '../../support/human-file.ts';
import { tempHome, tempStore } from '../../support/temp.ts';
import type { Clients } from './install.ts';

const clients: Clients = inject('clients');

export interface World {
  clients: Clients;
  store: string;
  folder: string;
  hive: OpenedHive;
}

/** A new world, or one around a store that exists, with what its human prefers. */
export async function openWorld(
  settings: Readonly<Record<string, unknown>> = {},
  store: string = tempStore(),
): Promise<World> {
  const hive = await openHive({ store, env: trusting({ seats: [SEAT] }) });
  onTestFinished(() => hive.close());
  hive.seats.useKey(SEAT_SECRET);
  await prefer(hive, settings);
  // The clients know their project by its real path.
  const folder = realpathSync(tempHome());
  // Their person has registered the seat at which this hive answers.
  addSeat({ HOME: folder }, SEAT);
  return { clients, store, folder, hive };
}

/** With a desk: without one a ping is unseen, and no report is owed. */
export async function openWorldWithDesk(): Promise<World> {
  const world = await openWorld();
  await openDesk(world.hive);
  return world;
}

/** In the environment of every client, so that it reaches nothing outside of this machine. */
export const LOOPBACK_ONLY: Readonly<Record<string, string>> = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

/** Another agent mentions the session that `which` picks among those that live. */
export async function mention(
  hive: OpenedHive,
  which: (session_id: string) => boolean,
  body = 'Please review auth',
): Promise<void> {
  const mentioned = (await hive.sessions.list({ state: 'alive' })).find(({ session_id }) =>
    which(session_id),
  );
  const author = agentAuthor(await introduce(hive, 'other-1'), 'mcp');
  await hive.messages.post({ body: `${body} @${mentioned?.handle}`, scope: 'all', author });
}

export const isMain = (id: string): boolean => !id.includes(':') && id !== 'other-1';
export const isSubagent = (id: string): boolean => id.includes(':');

/** The ask_id in what a model was sent. */
export function askIdIn(told: unknown): string {
  return /ask-[0-9a-z]{16}/.exec(JSON.stringify(told))?.[0] ?? 'none';
}

/** Every turn in the store, from the log: `STATE reason by`. */
export async function turnsOf(hive: OpenedHive): Promise<string[]> {
  const ids = new Set((await eventsOf(hive, 'turn/changed')).map(({ subject }) => subject ?? ''));
  const found = await Promise.all([...ids].map((turn_id) => hive.turns.get(turn_id)));
  return found.map(({ state, abort_reason, by }) =>
    [state, abort_reason, by].filter((part) => part !== null).join(' '),
  );
}
