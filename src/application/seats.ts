/**
 * The seat of this process: the key with which the human's answers to permissions are signed here, and its registration
 * in the human's file. Only a process that a person started has one: Emacs gives it to its sidecar, and a command at a
 * terminal reads it once the person has typed `yes`.
 */
import { type Seat, type SeatKey, seatKeyFrom } from '../domain/seats.ts';
import type { Trust } from '../domain/trust.ts';
import { agentVariable, agentVariableAbove } from './identity.ts';
import { giveNotice } from './notices.ts';
import type { Store } from './ports.ts';
import type { SessionService } from './sessions.ts';
import type { Environment } from './settings.ts';
import type { Processes } from './world.ts';

/** Whether answers that are given here may allow something. */
export interface SeatState {
  registered: boolean;
  /** It was registered just now. */
  is_new: boolean;
  /** A sentence for the human; null when there is nothing to say. */
  text: string | null;
}

export interface SeatService {
  /** The key that this process has; null: what is answered here allows nothing. */
  key(): SeatKey | null;
  /** From now on this process signs with this secret key. */
  hold(secret: string): void;
  /**
   * Registers the key of this process. The first key of a seat needs no more than this; a further one only counts when
   * the human has confirmed it. Without a registered key the human can still answer, and is told what that allows.
   */
  register(registrar: Registrar): Promise<SeatState>;
}

interface Registrar {
  /** This process; what is above it shows whether an agent started it. */
  pid: number;
  via: 'emacs' | 'cli';
  confirmed: boolean;
}

export interface SeatParts {
  store: Store;
  sessions: Pick<SessionService, 'above'>;
  processes: Pick<Processes, 'ancestors' | 'environment'>;
  /** The name of the seat, user@machine. */
  seat: string;
  machine: string;
  env: Environment;
  trust: () => Trust;
  /** Writes a seat into the human's file. @throws with a sentence that says why it could not. */
  write: (seat: Seat) => Promise<void>;
}

export function createSeats(parts: SeatParts): SeatService {
  const { store, sessions, processes, seat: name, machine, env, trust, write } = parts;
  let own: SeatKey | null = null;

  /** Why an agent may have started this process; null when nothing shows one. */
  async function agentAbove(pid: number): Promise<string | null> {
    const variable = agentVariable(env);
    if (variable !== null) return `${variable} is set`;
    const hidden = agentVariableAbove(processes, pid);
    if (hidden !== null) return `${hidden} is set above it`;
    const [nearest] = await sessions.above({ machine, pid });
    return nearest === undefined ? null : `${nearest.handle} started this process`;
  }

  async function enter({ key }: SeatKey, { pid, via, confirmed }: Registrar): Promise<SeatState> {
    const { seats, problems, path } = trust();
    if (seats.some((seat) => seat.key === key)) return { registered: true, is_new: false, text: null };
    const [problem] = problems;
    if (problem !== undefined)
      return unregistered(`${problem} Until then, what you allow here allows nothing.`);
    const agent = await agentAbove(pid);
    if (agent !== null)
      return unregistered(
        `This seat was not registered, because an agent may have started it (${agent}): what is allowed here allows nothing. Start Emacs yourself, outside the agent.`,
      );
    if (!confirmed && seats.some((seat) => seat.name === name))
      return unregistered(
        `${path} has another key of ${name}, so what you allow here allows nothing yet. If this key is yours, too, register it with M-x hive-register-seat.`,
      );
    try {
      await write({ name, key });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const entry = JSON.stringify({ name, key });
      return unregistered(
        `This seat could not be registered (${why}), so what you allow here allows nothing. Add ${entry} to the list "seats" in ${path} yourself.`,
      );
    }
    // One line of the echo area, which must not grow: windows would change.
    const text = `Registered this seat (${name}): what you allow here counts.`;
    await store.write(async (tx) => {
      const data = { seat: name, key, path, via, confirmed };
      await tx.events.append({ type: 'seat/registered', session_id: null, subject: null, data });
      await giveNotice(tx, { severity: 'info', session_id: null, text, data: { seat: name } });
    });
    return { registered: true, is_new: true, text };
  }

  return {
    key: () => own,
    hold(secret) {
      own = seatKeyFrom(secret);
    },
    async register(registrar) {
      if (own === null)
        return unregistered('This sidecar was given no key: restart it with M-x hive-restart.');
      return enter(own, registrar);
    },
  };
}

function unregistered(text: string): SeatState {
  return { registered: false, is_new: false, text };
}
