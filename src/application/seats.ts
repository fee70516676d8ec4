/**
 * The seat of this process: the key with which the human's answers to permissions are signed here, and its registration
 * in the human's file. Only a process that a person started has one: Emacs gives it to its sidecar, and a command at a
 * terminal reads it once the person has typed `yes`.
 *
 * Only the first key registers itself. Otherwise any process could register one, because only the key distinguishes the human's
 * Emacs from a program with its own sidecar. Further keys are added by a process that has a registered one, or by the human, who
 * edits the file.
 */
import { invalidInput } from '../domain/errors.ts';
import { countsIn, type Seat, type SeatKey, seatKeyFrom, withStore } from '../domain/seats.ts';
import { agentVariable, agentVariableAbove } from './identity.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { SessionService } from './sessions.ts';
import { type Check, checkBroken } from './world.ts';

/** Whether answers given in this process may allow something. */
export interface SeatState {
  registered: boolean;
  /** It was registered just now. */
  is_new: boolean;
  /** A sentence for the human; null when there is nothing to say. */
  text: string | null;
}

export interface Registrar {
  /** This process. The processes above it show whether an agent started it. */
  pid: number;
  via: 'emacs' | 'cli';
}

type SeatParts = Pick<
  Parts,
  'store' | 'processes' | 'seat' | 'machine' | 'env' | 'trust' | 'agentKey' | 'addSeat' | 'removeSeat'
> & { sessions: Pick<SessionService, 'above'> };

export type SeatService = ReturnType<typeof createSeats>;

export function createSeats(parts: SeatParts) {
  const { store, sessions, processes, seat: name, machine, env, trust, agentKey } = parts;
  let held: SeatKey | null = null;

  /** The key that signs here. A person who names a key of their SSH agent wants that key to sign. */
  function ownKey(): SeatKey | null {
    const { ssh_agent_key } = trust();
    return ssh_agent_key === null ? held : agentKey(ssh_agent_key);
  }

  /** Why an agent may have started this process; null if nothing indicates one. */
  async function agentAbove(pid: number): Promise<string | null> {
    const variable = agentVariable(env);
    if (variable !== null) return `${variable} is set`;
    const hidden = agentVariableAbove(processes, pid);
    if (hidden !== null) return `${hidden} is set above it`;
    const [nearest] = await sessions.above({ machine, pid });
    return nearest === undefined ? null : `${nearest.handle} started this process`;
  }

  const counts = (key: string): boolean =>
    trust().seats.some((seat) => seat.key === key && countsIn(seat, store.name));

  /** Why this key does not register itself, as a sentence; null if it does. */
  function refusal({ key }: SeatKey): string | null {
    const { seats, takes_first_seat, path } = trust();
    if (!takes_first_seat)
      return `The list of seats in ${path} is empty, so what you allow here allows nothing. M-x hive-doctor says what to add.`;
    // The key may be registered for another store of the human; it is added to this store unless this store already has a seat.
    const isOwn = seats.some((seat) => seat.key === key);
    const isFirst = seats.length === 0 || (isOwn && !seats.some((seat) => countsIn(seat, store.name)));
    return isFirst
      ? null
      : `Another key is registered in ${path}, and this one is not, so what you allow here allows nothing. M-x hive-doctor says how to register it.`;
  }

  async function enter(seat: Pick<Seat, 'name' | 'key'>, { pid, via }: Registrar): Promise<SeatState> {
    const { problems, path, seats } = trust();
    const [problem] = problems;
    if (problem !== undefined)
      return unregistered(`${problem} Until then, what you allow here allows nothing.`);
    const agent = await agentAbove(pid);
    if (agent !== null)
      return unregistered(
        `This seat was not registered, because an agent may have started it (${agent}): what is allowed here allows nothing. Start Emacs yourself, outside the agent.`,
      );
    const known = seats.find(({ key }) => key === seat.key);
    const entry = withStore(known ?? { ...seat, stores: [] }, store.name);
    try {
      await parts.addSeat(entry);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return unregistered(
        `This seat could not be registered (${why}), so what you allow here allows nothing. Add ${JSON.stringify(entry)} to the list "seats" in ${path} yourself.`,
      );
    }
    const own = ownKey();
    const admitted_by = own !== null && own.key !== seat.key ? own.key : null;
    // One line, because the echo area must not grow and resize windows.
    const text =
      admitted_by === null
        ? `Registered this seat (${seat.name}): what you allow here counts.`
        : `Registered the seat ${seat.name}: what is allowed there counts.`;
    await store.write(async (tx) => {
      const data = { seat: seat.name, key: seat.key, store: store.name, path, via, admitted_by };
      await tx.events.append({ type: 'seat/registered', data });
      await giveNotice(tx, { severity: 'info', text, data: { seat: name } });
    });
    return { registered: true, is_new: true, text };
  }

  return {
    /** The key of this process; null if answers given here cannot allow anything. */
    key: ownKey,
    /** Whether this key's signature may allow something in this store. */
    counts,
    /** Whether answers given in this process may allow something, because its key is registered for this store. */
    isRegistered(): boolean {
      const own = ownKey();
      return own !== null && counts(own.key);
    },
    /** Makes this process sign with this secret key from now on. */
    useKey(secret: string): void {
      held = seatKeyFrom(secret);
    },
    /**
     * Registers the key of this process if it is the first one. Without a registered key the human can still answer, and is
     * notified that such answers allow nothing.
     */
    async register(registrar: Registrar): Promise<SeatState> {
      const own = ownKey();
      if (own === null)
        return unregistered('This sidecar was given no key: restart it with M-x hive-restart.');
      const { key } = own;
      if (counts(key)) return { registered: true, is_new: false, text: null };
      const refused = trust().problems.length === 0 ? refusal(own) : null;
      return refused === null ? enter({ name, key }, registrar) : unregistered(refused);
    },
    /**
     * Registers a further key for this store, after the human has confirmed it here. Only a process whose own key is registered
     * may do that. @throws HiveError `invalid_input` if the human's file cannot be written.
     */
    async admit(seat: Pick<Seat, 'name' | 'key'>, registrar: Registrar): Promise<SeatState> {
      const own = ownKey();
      if (own === null || !counts(own.key))
        throw invalidInput(
          `A further key is registered in an Emacs whose own key is registered for this store, and this one's is not. You can add the key to "seats" in ${trust().path} yourself.`,
        );
      if (counts(seat.key)) return { registered: true, is_new: false, text: null };
      return enter(seat, registrar);
    },
    /**
     * Removes a key from the human's file, which can only reduce what is permitted. Returns true if the key no longer counts.
     * @throws with a sentence that says why the file could not be written.
     */
    async expel(key: string): Promise<boolean> {
      if (trust().seats.some((seat) => seat.key === key)) await parts.removeSeat(key);
      return !counts(key);
    },
    /** The doctor's check of whether the key of this process counts; empty if it has no key. */
    examine(): Check[] {
      const own = ownKey();
      if (own === null || counts(own.key)) return [];
      const { path } = trust();
      const entry = JSON.stringify({ name, key: own.key, stores: [store.name] });
      const text = `the key of this Emacs (${own.key}) is not registered for ${store.name}: what you allow here allows nothing`;
      const advice = `in an Emacs whose key is registered, run M-x hive-register-seat and give it this key, or add ${entry} to the list "seats" in ${path}`;
      return [checkBroken('Seat', text, advice)];
    },
  };
}

function unregistered(text: string): SeatState {
  return { registered: false, is_new: false, text };
}
