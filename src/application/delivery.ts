/**
 * Delivery: what is carried into an agent, and what proves that it arrived (invariant 6). At least once,
 * undisturbed exactly once: an answer is stamped `handed_at` when a carrier (one MCP connection, the hooks of
 * a session) returns or prints it, and `collected_at` when that same carrier shows by a further sign of life
 * that the agent went on. A carrier that dies in between proves nothing, so the next hands it again, `repeated`.
 */
import { type HookEvent, isHumanPrompt, readUntil, takesContext } from '../domain/hooks.ts';
import {
  describeSettlement,
  handPrompt,
  isReceiver,
  isUncollected,
  OPEN_LIMIT,
  type Prompt,
} from '../domain/prompts.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { appendPrompt } from './prompt-records.ts';

/** A prompt as it was handed over. */
export interface Delivered {
  /** As it stands. */
  prompt: Prompt;
  /** It was handed before, and nothing proved that it was read. */
  repeated: boolean;
}

/** One hand-over: a later one of the same prompt has another time. */
export interface Handed {
  ask_id: string;
  handed_at: string;
}

export interface DeliveryService {
  /**
   * Stamps the settled ones among these prompts as handed by `carrier`, before it returns or prints them.
   * `reader` is the session that reads: what is not for it, it sees without a stamp.
   */
  hand(ask_ids: readonly string[], carrier: string, reader?: string): Promise<Delivered[]>;
  /** A sign of life of the carrier: all that it has handed so far was read. Cheap when there is nothing. */
  collect(carrier: string): Promise<number>;
  /** These hand-overs of the carrier were read. */
  prove(carrier: string, handed: readonly Handed[]): Promise<void>;
  /** These hand-overs never reached anybody: whoever comes next hands them again. */
  release(carrier: string, handed: readonly Handed[]): Promise<void>;
}

/** So far is whatever stands there: no clock, which might be another machine's or set back, is asked. */
const END_OF_TIME = '9999-12-31T23:59:59.999Z';

export function createDelivery(store: Store): DeliveryService {
  return {
    hand: (ask_ids, carrier, reader) =>
      store.writeReceipt(async (tx) => {
        const delivered: Delivered[] = [];
        // One that is named twice is handed once: the second time would call it repeated.
        for (const ask_id of new Set(ask_ids)) {
          const prompt = await tx.prompts.get(ask_id);
          if (prompt === undefined) continue;
          const stamped = isUncollected(prompt) && (reader === undefined || isReceiver(prompt, reader));
          delivered.push(stamped ? await handOne(tx, prompt, carrier) : { prompt, repeated: false });
        }
        return delivered;
      }),

    async collect(carrier) {
      const carried = await store.read((tx) => tx.prompts.carriedBy(carrier, END_OF_TIME));
      return carried.length === 0 ? 0 : store.writeReceipt((tx) => collectFrom(tx, carrier, END_OF_TIME));
    },

    prove: (carrier, handed) =>
      store.writeReceipt(async (tx) => {
        for (const prompt of await stillCarried(tx, carrier, handed)) await collectOne(tx, prompt);
      }),

    release: (carrier, handed) =>
      store.writeReceipt(async (tx) => {
        for (const prompt of await stillCarried(tx, carrier, handed))
          await tx.prompts.update({ ...prompt, carrier: null });
      }),
  };
}

/** The prompts of these hand-overs that nothing has happened to since. */
async function stillCarried(tx: ReadTx, carrier: string, handed: readonly Handed[]): Promise<Prompt[]> {
  const prompts: Prompt[] = [];
  for (const { ask_id, handed_at } of handed) {
    const prompt = await tx.prompts.get(ask_id);
    if (prompt?.carrier === carrier && prompt.handed_at === handed_at && isUncollected(prompt))
      prompts.push(prompt);
  }
  return prompts;
}

/** Stamps one settled prompt as handed, before its carrier returns or prints it. */
export async function handOne(tx: WriteTx, prompt: Prompt, carrier: string): Promise<Delivered> {
  const repeated = prompt.handed_at !== null;
  const handed = handPrompt(prompt, carrier, tx.now);
  await tx.prompts.update(handed);
  await appendPrompt(tx, 'prompt/handed', handed, { carrier, repeated });
  return { prompt: handed, repeated };
}

async function collectFrom(tx: WriteTx, carrier: string, handed_before: string): Promise<number> {
  const prompts = await tx.prompts.carriedBy(carrier, handed_before);
  for (const prompt of prompts) await collectOne(tx, prompt);
  return prompts.length;
}

async function collectOne(tx: WriteTx, prompt: Prompt): Promise<void> {
  const collected = { ...prompt, collected_at: tx.now };
  await tx.prompts.update(collected);
  await appendPrompt(tx, 'prompt/collected', collected, { carrier: prompt.carrier });
}

/** What the hooks of one session carry in; one carrier, since they speak into one conversation. */
export function hookCarrier(session_id: string): string {
  return `hook:${session_id}`;
}

/** So many answers are carried in at once; the rest follow with the next event. */
const AT_ONCE = 5;

/**
 * Hands what a session has settled and not collected, leaving out what another carrier may yet prove read.
 * Used where a hook prints: as context, or as the reason of a Stop that is held.
 */
export async function handUncollected({
  tx,
  session,
  processes,
  settings,
}: HookContext): Promise<Delivered[]> {
  const carrier = hookCarrier(session.session_id);
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const delivered: Delivered[] = [];
  for (const prompt of open.filter(isUncollected)) {
    if (delivered.length === AT_ONCE) break;
    if (
      prompt.handed_at !== null &&
      (await isCarried(tx, prompt, carrier, settings.machine, processes.alive))
    )
      continue;
    delivered.push(await handOne(tx, prompt, carrier));
  }
  return delivered;
}

/** Whether what handed this prompt is still there to prove that it was read. */
async function isCarried(
  tx: ReadTx,
  { carrier }: Prompt,
  own: string,
  machine: string,
  alive: (pid: number) => boolean,
): Promise<boolean> {
  if (carrier === null) return false;
  if (carrier === own) return true;
  const connections = await tx.sessions.connections(machine);
  return connections.some(
    (connection) => carrier === mcpCarrier(connection.connection_id) && alive(connection.pid),
  );
}

/** What one MCP connection hands. */
export function mcpCarrier(connection_id: string): string {
  return `mcp:${connection_id}`;
}

/** The station of answers: what this event proves to have been read, and what can be carried in with it. */
export const deliverAnswers: HookHandler = async (visit) => {
  const { tx, event, session, verdict, proves } = visit;
  const carrier = hookCarrier(session.session_id);
  // A session that begins anew from its transcript may have lost what was printed last.
  const proven = event.name === 'SessionStart' ? null : readUntil(event, tx.now);
  if (proven !== null && proves) await collectFrom(tx, carrier, proven);
  if (event.name === 'PostToolUse') await collectReturned(visit);
  if (!takesContext(event) || verdict.block !== null || isWake(event)) return null;
  if (event.name === 'SessionStart') await releaseCarried(tx, carrier);
  const delivered = await handUncollected(visit);
  if (delivered.length === 0) return null;
  const context = delivered.map(({ prompt, repeated }) => describeSettlement(prompt, repeated));
  return { context, carries: true };
};

/** What a call of the session has brought back, from a poll over MCP or in its shell: the hook after it is the proof. */
async function collectReturned({ tx, event, session }: HookContext): Promise<void> {
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const returned = open.filter((prompt) => isUncollected(prompt) && isReturnCarrier(prompt.carrier));
  if (returned.length === 0) return;
  const response = JSON.stringify(event.tool?.response ?? null);
  for (const prompt of returned) if (response.includes(prompt.ask_id)) await collectOne(tx, prompt);
}

function isReturnCarrier(carrier: string | null): boolean {
  return carrier !== null && (carrier.startsWith('mcp:') || carrier.startsWith('cli:'));
}

/** What the client itself says it marks as no word of the human's: an answer beside it would be doubted. */
function isWake(event: HookEvent): boolean {
  return event.name === 'UserPromptSubmit' && event.agent_id === null && !isHumanPrompt(event);
}

/** What this session's hooks had printed and nothing proved read is to be handed again. */
export async function releaseCarried(tx: WriteTx, carrier: string): Promise<void> {
  for (const prompt of await tx.prompts.carriedBy(carrier, tx.now))
    await tx.prompts.update({ ...prompt, carrier: null });
}

// ---------------------------------------------------------------------------
// A courier carries answers over one connection whose calls may overlap (invariant 6). A call proves that the
// client has read what earlier calls returned; of a call that has not returned yet it proves nothing. Told by
// memory and not by clocks: two calls in one millisecond, or a store with a clock of its own, would deceive
// those; and a courier that dies takes its memory with it, as it should.

interface DeliveryTracker {
  /** A call has come. */
  begin(): TrackedCall;
}

/** One call; it ends as `returned` or as `dropped`. */
interface TrackedCall {
  /** Records as read what calls had returned when this one came. Cheap when there is nothing. */
  prove(): Promise<void>;
  /** Stamps the settled ones among these prompts as handed, before they are returned (see DeliveryService). */
  hand(ask_ids: readonly string[], reader?: string): Promise<Delivered[]>;
  returned(): void;
  /** The client took its call back or got an error: what was handed over did not reach it. */
  dropped(): Promise<void>;
}

export function createDeliveryTracker(delivery: DeliveryService, carrier: string): DeliveryTracker {
  /** ask_id → when it was handed over by a call that has returned since. */
  const unproven = new Map<string, string>();

  return {
    begin() {
      const before = entriesOf(unproven);
      const handed = new Map<string, string>();
      return {
        async prove() {
          if (before.length === 0) return;
          await delivery.prove(carrier, before);
          for (const { ask_id, handed_at } of before)
            if (unproven.get(ask_id) === handed_at) unproven.delete(ask_id);
        },
        async hand(ask_ids, reader) {
          const delivered = await delivery.hand(ask_ids, carrier, reader);
          for (const { prompt } of delivered) {
            if (isUncollected(prompt) && prompt.carrier === carrier && prompt.handed_at !== null)
              handed.set(prompt.ask_id, prompt.handed_at);
          }
          return delivered;
        },
        returned() {
          for (const [ask_id, handed_at] of handed) unproven.set(ask_id, handed_at);
        },
        async dropped() {
          if (handed.size > 0) await delivery.release(carrier, entriesOf(handed));
        },
      };
    },
  };
}

function entriesOf(handed: ReadonlyMap<string, string>): Handed[] {
  return [...handed].map(([ask_id, handed_at]) => ({ ask_id, handed_at }));
}
