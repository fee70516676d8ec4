/** Humans: their names, presence and teams. domain/humans.ts decides who is asked by a prompt. */
import { HiveError, invalidInput } from '../domain/errors.ts';
import {
  addressOf,
  createTeam,
  type Desk,
  foldName,
  type Human,
  namesOf,
  nobodyCalled,
  type Team,
} from '../domain/humans.ts';
import type { Address, AskRequest } from '../domain/prompts.ts';
import { EVERYBODY } from '../domain/prompts.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';

/** One human, as others see them. */
export interface Presence {
  name: string;
  online: boolean;
  /** Whether one of their Emacs processes has the focus. */
  focused: boolean;
  teams: string[];
  /** When they last opened or closed a desk. */
  seen_at: string;
}

/** How many humans are read: for a list, and to compare names with. */
const LIST_LIMIT = 200;

export function createHumans(store: Store) {
  return {
    /** Everybody who has used a desk: those online first, then the most recently seen. */
    presence: () =>
      store.read(async (tx) => {
        const humans = await tx.humans.list(LIST_LIMIT);
        return presenceOf(humans, await tx.humans.teams(), await tx.desks.online(tx.now));
      }),

    teams: (): Promise<Team[]> => store.read((tx) => tx.humans.teams()),

    /** Creates or replaces a team. @throws HiveError `invalid_input`. */
    setTeam: (given: Parameters<typeof createTeam>[0]): Promise<Team> =>
      store.write(async (tx) => {
        const team = createTeam(given, tx.now);
        await tx.humans.putTeam(team);
        return team;
      }),

    /** Removes a team; prompts addressed to it stay with its members. @throws HiveError `human_not_found`. */
    removeTeam: (name: string): Promise<void> =>
      store.write(async (tx) => {
        if (await tx.humans.removeTeam(foldName(name))) return;
        throw new HiveError('human_not_found', `There is no team "${name}". See them with: hive team list`);
      }),
  };
}

/** One entry per human, who may be reached by several names. */
function presenceOf(humans: readonly Human[], teams: readonly Team[], desks: readonly Desk[]): Presence[] {
  const found = new Map<string, Presence>();
  for (const { folded, name, seen_at } of humans) {
    const here = desks.filter((desk) => namesOf(desk).includes(folded));
    const before = found.get(foldName(name));
    const member = teams.filter(({ members }) => members.some((one) => foldName(one) === folded));
    found.set(foldName(name), {
      name,
      online: before?.online === true || here.length > 0,
      focused: before?.focused === true || here.some(({ focused }) => focused),
      teams: [...new Set([...(before?.teams ?? []), ...member.map((team) => team.name)])],
      seen_at: before !== undefined && before.seen_at > seen_at ? before.seen_at : seen_at,
    });
  }
  return [...found.values()].sort(
    (a, b) => Number(b.online) - Number(a.online) || (a.seen_at < b.seen_at ? 1 : -1),
  );
}

/** The names by which humans are known, given and folded. */
export async function namesOfHumans(tx: ReadTx): Promise<string[]> {
  return (await tx.humans.list(LIST_LIMIT)).flatMap(({ folded, name }) => [folded, name]);
}

/** Records a person under every name that reaches them. */
export async function recordHuman(tx: WriteTx, desk: Pick<Desk, 'human' | 'seat'>): Promise<void> {
  for (const folded of namesOf(desk)) await tx.humans.put({ folded, name: desk.human, seen_at: tx.now });
}

/** Resolves the address of a question. @throws HiveError `human_not_found` for an unknown name, `invalid_input`. */
export async function findAddress(
  tx: ReadTx,
  { to, escalate_after_ms }: Pick<AskRequest, 'to' | 'escalate_after_ms'>,
): Promise<Address> {
  if (to === null || to === undefined) {
    if (escalate_after_ms === null || escalate_after_ms === undefined) return EVERYBODY;
    throw invalidInput('escalate_after_ms needs `to`: a question without `to` goes to everybody already.', {
      field: 'escalate_after_ms',
    });
  }
  const folded = foldName(to);
  const [human, team] = [await tx.humans.get(folded), await tx.humans.team(folded)];
  const teams = human === undefined && team === undefined ? await tx.humans.teams() : [];
  const isMember = teams.some(({ members }) => members.some((member) => foldName(member) === folded));
  if (human === undefined && team === undefined && !isMember) {
    const humans = await tx.humans.list(LIST_LIMIT);
    throw nobodyCalled(to, [...new Set([...teams, ...humans].map(({ name }) => name))]);
  }
  return addressOf(to, escalate_after_ms, { human, team }, tx.now);
}
