/** Turns: what runs, and how a program tells of its own. What the clients' hooks tell, turn-stations.ts takes. */
import { HiveError } from '../domain/errors.ts';
import { type Interrupt, interruptedBy } from '../domain/interrupts.ts';
import type { Session } from '../domain/sessions.ts';
import type { AbortReason, Turn, TurnEnd } from '../domain/turns.ts';
import type { Ids, ReadTx, Store, WriteTx } from './ports.ts';
import { beginTurn, closeTurn } from './turn-records.ts';

export interface TurnService {
  /** Begins a turn of a program that tells its turns itself; one that runs is replaced, unless it has the same id. */
  start(start: ProgramTurn): Promise<Turn>;
  /** Ends it, completed unless a reason says otherwise; one that has ended stays as it is. @throws HiveError `turn_not_found`. */
  end(turn_id: string, end?: ProgramEnd): Promise<Turn>;
  /** @throws HiveError `turn_not_found`. */
  get(turn_id: string): Promise<Turn>;
  current(session_id: string): Promise<Turn | undefined>;
  /** Everything that runs, with whose it is. */
  running(): Promise<RunningTurn[]>;
  /** The newest turns of these sessions, with every request for them: what a list of sessions shows. */
  newestOf(session_ids: readonly string[]): Promise<TurnWithInterrupts[]>;
}

export interface ProgramTurn {
  session_id: string;
  client_turn_id?: string | null | undefined;
  /** Who displaces the turn that runs. */
  by?: string | null | undefined;
}

/** How a program tells that its turn has ended. */
export interface ProgramEnd {
  /** Why it did not complete; missing: it did. */
  aborted?: AbortReason | undefined;
  /** Who ended it; missing: whoever asked for the interrupt. */
  by?: string | null | undefined;
  /** A remark for the record. */
  note?: string | null | undefined;
}

export interface RunningTurn {
  turn: Turn;
  session: Session;
}

export interface TurnWithInterrupts {
  turn: Turn;
  interrupts: Interrupt[];
}

const RUNNING_LIMIT = 1_000;

export function createTurns(store: Store, ids: Ids): TurnService {
  return {
    start: ({ session_id, client_turn_id = null, by = null }) =>
      store.write(async (tx) => {
        const current = await tx.turns.current(session_id);
        if (current !== undefined && client_turn_id !== null && current.client_turn_id === client_turn_id)
          return current;
        if (current !== undefined) await closeTurn(tx, current, replacedBy(by));
        return beginTurn(tx, ids.make('turn'), { session_id, client_turn_id, continues: null });
      }),

    end: (turn_id, end = {}) =>
      store.write(async (tx) => {
        const turn = await findTurn(tx, turn_id);
        return closeTurn(tx, turn, await programEnd(tx, turn, end));
      }),

    get: (turn_id) => store.read((tx) => findTurn(tx, turn_id)),
    current: (session_id) => store.read((tx) => tx.turns.current(session_id)),

    running: () =>
      store.read(async (tx) => {
        const running: RunningTurn[] = [];
        for (const turn of await tx.turns.running(RUNNING_LIMIT)) {
          const session = await tx.sessions.get(turn.session_id);
          if (session !== undefined) running.push({ turn, session });
        }
        return running;
      }),

    newestOf: (session_ids) =>
      store.read(async (tx) => {
        const newest = await Promise.all(session_ids.map((session_id) => tx.turns.last(session_id)));
        const found = newest.filter((turn) => turn !== undefined);
        return Promise.all(
          found.map(async (turn) => ({ turn, interrupts: await tx.turns.interruptsOf(turn.turn_id) })),
        );
      }),
  };
}

function replacedBy(by: string | null): TurnEnd {
  return { state: 'aborted', abort_reason: 'replaced', by, via: 'library', note: null };
}

async function programEnd(tx: WriteTx, turn: Turn, { aborted, by, note }: ProgramEnd): Promise<TurnEnd> {
  if (aborted === undefined) return { state: 'completed' };
  const [asked] = await tx.turns.pendingInterrupts(turn.turn_id);
  // Who stops a turn because it was asked to does so for the one who asked.
  if (aborted === 'interrupted' && asked !== undefined && by == null) return interruptedBy(asked);
  return { state: 'aborted', abort_reason: aborted, by: by ?? null, via: 'library', note: note ?? null };
}

async function findTurn(tx: ReadTx, turn_id: string): Promise<Turn> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined)
    throw new HiveError('turn_not_found', `There is no turn ${turn_id}: check the id.`, { turn_id });
  return turn;
}
