/**
 * Delivery: how text reaches an agent, and the proof that it arrived (invariant 6). One engine delivers settled prompts,
 * mentions, reports and notices of aborted turns; each capability only chooses its own words (deliverAnswers below, reports.ts,
 * mentions.ts, interrupts.ts). Delivery is at least once, and exactly once if nothing fails. A delivery is stamped `handed_at`
 * when a carrier (one MCP connection, the hooks of a session) returns or prints it, and `collected_at` when a later event of
 * the same carrier proves that the agent has continued. A carrier that dies in between proves nothing, so the next one delivers
 * again, with `repeated`.
 */
import { collect, type Delivery, handOver, lose, type Receipts, receiptsOf } from '../domain/delivery.ts';
import { acceptsContext, type HookEvent, isHumanPrompt, isRefused, readUntil } from '../domain/hooks.ts';
import {
  deliveryOf,
  describeSettlement,
  isReceiver,
  isUncollected,
  OPEN_LIMIT,
  type Prompt,
  promptEvent,
} from '../domain/prompts.ts';
import type { Seat } from '../domain/seats.ts';
import { hostOf } from '../domain/sessions.ts';
import { timeAfter } from '../domain/times.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { recordOutreach } from './outreach.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { askIdsOfRun } from './run-calls.ts';
import { asSigned } from './signatures.ts';
import type { Ids } from './world.ts';

/** A prompt as it was handed over. */
export interface Delivered {
  /** The prompt in its current state. */
  prompt: Prompt;
  /** Whether it was handed over before without proof that it was read. */
  repeated: boolean;
}

/** One hand-over; a later one of the same prompt has another time. */
export interface Handed {
  ask_id: string;
  handed_at: string;
}

/** A time after every stored delivery. No clock is read, because it may be another machine's or set back. */
export const END_OF_TIME = '9999-12-31T23:59:59.999Z';

export type DeliveryService = ReturnType<typeof createDelivery>;

/** `seats` returns the seats whose answers may allow something. */
export function createDelivery(store: Store, seats: () => readonly Seat[]) {
  return {
    /**
     * Stamps the settled ones among these prompts as handed over by `carrier`, before it returns or prints them. `reader` is the
     * session that reads; prompts that are not addressed to it get no stamp.
     */
    hand: (ask_ids: readonly string[], carrier: string, reader?: string): Promise<Delivered[]> =>
      store.writeUnflushed(async (tx) => {
        const delivered: Delivered[] = [];
        // A prompt that is listed twice is handed over once; the second would be marked as repeated.
        for (const ask_id of new Set(ask_ids)) {
          const stored = await tx.prompts.get(ask_id);
          if (stored === undefined) continue;
          const prompt = await asSigned(tx, stored, { store, seats });
          const stamped =
            isUncollected(prompt) && (reader === undefined || (await receives(tx, prompt, reader)));
          delivered.push(stamped ? await handPrompt(tx, prompt, carrier) : { prompt, repeated: false });
        }
        return delivered;
      }),

    /** Records that everything the carrier handed over before was read, as its latest event proves. Cheap if there is nothing. */
    async collect(carrier: string): Promise<number> {
      const carried = await store.read((tx) => tx.deliveries.carriedBy(carrier, END_OF_TIME));
      return carried.length === 0 ? 0 : store.writeUnflushed((tx) => collectFrom(tx, carrier, END_OF_TIME));
    },

    /** Records that these hand-overs of the carrier were read. */
    prove: (carrier: string, handed: readonly Handed[]): Promise<void> =>
      store.writeUnflushed(async (tx) => {
        for (const delivery of await stillCarried(tx, carrier, handed)) await collectOne(tx, delivery);
      }),

    /** Records that these hand-overs never arrived; the next carrier delivers them again. */
    markLost: (carrier: string, handed: readonly Handed[]): Promise<void> =>
      store.writeUnflushed(async (tx) => {
        for (const delivery of await stillCarried(tx, carrier, handed))
          await tx.deliveries.put(lose(delivery));
      }),
  };
}

/** Whether reading the prompt in this session delivers it. An id that begins with the reader's may be one that a person chose. */
async function receives(tx: ReadTx, prompt: Prompt, reader: string): Promise<boolean> {
  if (!isReceiver(prompt, reader)) return false;
  const { session_id } = prompt;
  const asker = session_id.startsWith(`${reader}:`) ? await tx.sessions.get(session_id) : undefined;
  return asker === undefined || hostOf(asker) === reader;
}

/** The hand-overs among these that have not changed since. */
async function stillCarried(tx: ReadTx, carrier: string, handed: readonly Handed[]): Promise<Delivery[]> {
  const carried: Delivery[] = [];
  for (const { ask_id, handed_at } of handed) {
    const delivery = await tx.deliveries.get(ask_id);
    if (delivery?.carrier === carrier && delivery.handed_at === handed_at && delivery.collected_at === null)
      carried.push(delivery);
  }
  return carried;
}

// ---- The engine, inside a transaction ----

/** Stamps something as handed over, before its carrier returns or prints it. The caller appends the event. */
export async function hand(tx: WriteTx, delivery: Delivery, carrier: string): Promise<Delivery> {
  const handed = handOver(delivery, carrier, tx.now);
  await tx.deliveries.put(handed);
  return handed;
}

/** Stamps one settled prompt as handed. */
export async function handPrompt(tx: WriteTx, prompt: Prompt, carrier: string): Promise<Delivered> {
  const delivery = await hand(tx, deliveryOf(prompt), carrier);
  const handed = { ...prompt, ...receiptsOf(delivery) };
  const { repeated } = delivery;
  await tx.events.append(promptEvent('prompt/handed', handed, { carrier, repeated }));
  return { prompt: handed, repeated };
}

async function collectFrom(tx: WriteTx, carrier: string, handed_until: string): Promise<number> {
  const carried = await tx.deliveries.carriedBy(carrier, handed_until);
  for (const delivery of carried) await collectOne(tx, delivery);
  return carried.length;
}

/** Records that something was read, with an event if the kind has followers. */
async function collectOne(tx: WriteTx, delivery: Delivery): Promise<void> {
  const { kind, subject, carrier } = delivery;
  await tx.deliveries.put(collect(delivery, tx.now));
  if (kind === 'prompt') {
    const prompt = await tx.prompts.intact(subject);
    if (prompt !== undefined) await tx.events.append(promptEvent('prompt/collected', prompt, { carrier }));
  } else if (kind === 'report') {
    const report = await tx.outreach.get(subject);
    if (report !== undefined)
      await recordOutreach(tx, 'outreach/delivered', { ...report, status: 'delivered' }, { carrier });
  }
}

export function mcpCarrier(connection_id: string): string {
  return `mcp:${connection_id}`;
}

/** The carrier of the hooks of one session. They share one, because they write into one conversation. */
export function hookCarrier(session_id: string): string {
  return `hook:${session_id}`;
}

// ---- Hooks as carriers ----
// An answer that a hook hands over is stamped before it is printed (invariant 1), so a hook that is killed in between leaves a
// stamp on an answer that was never printed. A hook therefore announces that it is about to print, and reports when it has.
// Without that report nothing is proved, and everything is delivered again.

/** A hook runs for two seconds at most; if it has not printed by then, it never will. */
const LOST_AFTER_MS = 2_500;

/** Updates the deliveries of the session's hooks from an event, which may prove that they were read, or that they were lost. */
export async function reconcileDeliveries(tx: WriteTx, event: HookEvent, session_id: string): Promise<void> {
  const carrier = hookCarrier(session_id);
  const may_prove = await reconcileOutputs(tx, carrier, session_id);
  // A session that restarts from its transcript may have lost what was printed last.
  if (event.name === 'SessionStart' || (await mayHaveTakenBack(tx, event, session_id)))
    return tx.deliveries.markLost(carrier);
  const proven = readUntil(event, tx.now);
  if (proven !== null && may_prove) await collectFrom(tx, carrier, proven);
}

/**
 * Whether the client may have dropped the prompt of the running turn, and with it what its hook printed. Claude Code does so if its
 * person presses Esc before the first token: the prompt is in the input line again, and no hook reports that. After a tool has
 * started, a prompt stays.
 */
async function mayHaveTakenBack(
  tx: WriteTx,
  { name, client_turn_id }: HookEvent,
  session_id: string,
): Promise<boolean> {
  if (name !== 'UserPromptSubmit' || client_turn_id === null) return false;
  const running = await tx.turns.current(session_id);
  return running !== undefined && running.client_turn_id !== client_turn_id && running.steps === 0;
}

/**
 * Marks deliveries that were never printed as lost. False while a hook may still print, because until then no event is a proof.
 */
async function reconcileOutputs(tx: WriteTx, carrier: string, session_id: string): Promise<boolean> {
  const outputs = await tx.hookOutputs.of(session_id);
  if (outputs.length === 0) return true;
  const lost_before = timeAfter(tx.now, -LOST_AFTER_MS);
  // If the clock was set back, the output would otherwise stay for ever.
  const lost = outputs.filter(({ at }) => at < lost_before || at > tx.now);
  if (lost.length > 0) await tx.deliveries.markLost(carrier);
  for (const { output_id } of lost) await tx.hookOutputs.remove(output_id);
  return lost.length === outputs.length;
}

/** Announces an output, in the transaction that hands something over. The returned id is used to report that it was printed. */
export async function announceOutput(tx: WriteTx, session_id: string, ids: Ids): Promise<string> {
  const output_id = ids.make('output');
  await tx.hookOutputs.insert({ output_id, session_id, at: tx.now });
  return output_id;
}

/** Whether a delivery's carrier still exists and can prove that it was read. */
export async function isCarried(
  { tx, session, surroundings, processes }: HookContext,
  { handed_at, carrier }: Receipts,
): Promise<boolean> {
  if (handed_at === null || carrier === null) return false;
  if (carrier === hookCarrier(session.session_id)) return true;
  const connections = await tx.sessions.connections(surroundings.machine);
  return connections.some(
    (connection) => carrier === mcpCarrier(connection.connection_id) && processes.alive(connection.pid),
  );
}

/**
 * The most characters of answers that are delivered at once; the rest follow with the next event. Claude Code replaces a context
 * of more than 10,000 characters by a file, and other handlers add to it.
 */
const MOST_CHARACTERS = 8_000;

/** A session's settled and uncollected prompts, except those that another carrier may still prove to be read. */
export async function undelivered(context: HookContext): Promise<Prompt[]> {
  const { tx, session } = context;
  const uncollected = await tx.prompts.uncollectedOf(session.session_id, OPEN_LIMIT);
  const held = uncollected.length === 0 ? NONE : await askIdsOfRun(context.tx, context.surroundings.env);
  const found: Prompt[] = [];
  for (const prompt of uncollected)
    if (!held.has(prompt.ask_id) && !(await isCarried(context, prompt))) found.push(prompt);
  return found;
}

/** Hands over as many undelivered prompts as fit into one context. */
async function handUndelivered(context: HookContext): Promise<Delivered[]> {
  const { tx, session, store } = context;
  const delivered: Delivered[] = [];
  let characters = 0;
  for (const prompt of await undelivered(context)) {
    characters += describeSettlement(prompt, prompt.handed_at !== null).length;
    if (delivered.length > 0 && characters > MOST_CHARACTERS) break;
    const { prompt: handed, repeated } = await handPrompt(tx, prompt, hookCarrier(session.session_id));
    delivered.push({
      prompt: await asSigned(tx, handed, { store, seats: await seatsOf(context, prompt) }),
      repeated,
    });
  }
  return delivered;
}

/** The seats that count for this hook. Only the few hooks that deliver the answer to a permission read the file. */
async function seatsOf(
  { surroundings, event }: HookContext,
  { kind }: Prompt,
): Promise<() => readonly Seat[]> {
  if (kind !== 'permission') return () => [];
  const seats = surroundings.seats?.() ?? (await surroundings.human?.(event.cwd))?.trust.seats ?? [];
  return () => seats;
}

const NONE: ReadonlySet<string> = new Set();

/** The hook handler of answers: delivers what this event can carry. */
export const deliverAnswers: HookHandler = async (hook) => {
  const { event, verdict } = hook;
  if (event.name === 'PostToolUse') await collectReturned(hook);
  if (!acceptsContext(event) || isRefused(verdict) || isWake(event)) return null;
  const delivered = await handUndelivered(hook);
  if (delivered.length === 0) return null;
  const context = delivered.map(({ prompt, repeated }) => describeSettlement(prompt, repeated));
  return { context, carries: true };
};

/** Records that answers of a poll, over MCP or in the session's shell, were read: the hook after the call proves it. */
async function collectReturned({ tx, event, session }: HookContext): Promise<void> {
  const open = await tx.prompts.uncollectedOf(session.session_id, OPEN_LIMIT);
  const returned = open.filter(({ carrier }) => /^(?:mcp|cli):/.test(carrier ?? ''));
  if (returned.length === 0) return;
  const response = JSON.stringify(event.tool?.response ?? null);
  for (const { ask_id } of returned.filter((prompt) => response.includes(prompt.ask_id))) {
    const delivery = await tx.deliveries.get(ask_id);
    if (delivery !== undefined) await collectOne(tx, delivery);
  }
}

/**
 * Whether the event is a wake-up. The client marks its own messages as not the human's, and an agent would doubt an answer next
 * to one.
 */
function isWake(event: HookEvent): boolean {
  return event.name === 'UserPromptSubmit' && event.agent_id === null && !isHumanPrompt(event);
}

// ---- Tracking one connection ----
// A tracker delivers answers over one connection whose calls may overlap (invariant 6). A call proves that the client has read
// the results of earlier calls, except for calls that have not returned yet and calls that had to wait: a client may have given up
// on those silently and dropped the result unread. Results of such calls are delivered again, unless a hook proves that they
// were read. The tracker relies on its memory instead of clocks, which fail for two calls in one millisecond or a store with its
// own clock. If the tracker dies, its memory is lost too, which is correct.

export function createDeliveryTracker(delivery: DeliveryService, carrier: string) {
  /** ask_id → when it was handed over by a call that has returned since, and whether that had to wait. */
  const unproven = new Map<string, { handed_at: string; waited: boolean }>();

  function select(wanted: boolean): Handed[] {
    return [...unproven].flatMap(([ask_id, { handed_at, waited }]) =>
      waited === wanted ? [{ ask_id, handed_at }] : [],
    );
  }

  return {
    /** Tracks a call that has arrived. It ends as `returned` or as `dropped`. */
    begin() {
      const [read, unsure] = [select(false), select(true)];
      const handed = new Map<string, string>();
      let waited = false;
      return {
        /**
         * Records the results that calls had returned when this one arrived as read, and those of calls that had to wait as lost.
         * Cheap if there are none.
         */
        async prove(): Promise<void> {
          if (read.length > 0) await delivery.prove(carrier, read);
          if (unsure.length > 0) await delivery.markLost(carrier, unsure);
          for (const { ask_id, handed_at } of [...read, ...unsure])
            if (unproven.get(ask_id)?.handed_at === handed_at) unproven.delete(ask_id);
        },
        /** Records that this call has to wait. */
        waits(): void {
          waited = true;
        },
        /** Stamps the settled ones among these prompts as handed, before they are returned (see `createDelivery`). */
        async hand(ask_ids: readonly string[], reader?: string): Promise<Delivered[]> {
          const delivered = await delivery.hand(ask_ids, carrier, reader);
          for (const { prompt } of delivered) {
            if (isUncollected(prompt) && prompt.carrier === carrier && prompt.handed_at !== null)
              handed.set(prompt.ask_id, prompt.handed_at);
          }
          return delivered;
        },
        returned(): void {
          for (const [ask_id, handed_at] of handed) unproven.set(ask_id, { handed_at, waited });
        },
        /** The client cancelled its call or got an error, so what was handed over did not arrive. */
        async dropped(): Promise<void> {
          const lost = [...handed].map(([ask_id, handed_at]) => ({ ask_id, handed_at }));
          if (lost.length > 0) await delivery.markLost(carrier, lost);
        },
      };
    },
  };
}
