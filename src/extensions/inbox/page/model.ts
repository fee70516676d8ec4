/**
 * The state of the page, and how it is kept current: after each connection the page reads its lists again, and then follows the
 * notifications. Nothing here has to survive: the server has everything except the outbox (outbox.ts).
 */
import { useEffect, useState } from 'preact/hooks';
import type { MentionInFull } from '../../../domain/mentions.ts';
import type { Message } from '../../../domain/messages.ts';
import type { Outreach } from '../../../domain/outreach.ts';
import type { Session, SessionPlace } from '../../../domain/sessions.ts';
import { type PushedPopup, STORM_TAGS } from '../pushes.ts';
import { type ListedPrompt, readPages } from './order.ts';
import { dismiss, entries, sendQueued } from './outbox.ts';
import {
  call,
  Failed,
  follow,
  isSilent,
  type Notification,
  Refused,
  signIn,
  Unreachable,
  type Welcome,
} from './server.ts';
import { type OutboxEntry, type OwnDevice, storage } from './storage.ts';

/** A mention of the human, with the message that contains it. */
export type MentionShown = Pick<
  MentionInFull,
  | 'mention_id'
  | 'message_id'
  | 'created_at'
  | 'body'
  | 'by'
  | 'from_handle'
  | 'from_session_id'
  | 'as_handle'
  | 'project'
>;

/** Two agents that the loop guard has stopped. */
export interface LoopShown {
  first_session_id: string;
  second_session_id: string;
  state: 'tripped' | 'muted';
  reason: string;
  handles: [string, string];
  titles: [string, string];
}

/** A session, with its newest turn. */
export interface SessionShown extends Session, SessionPlace {
  turn?: {
    state: string;
    started_at: string;
    ended_at: string | null;
    tool: string | null;
    tool_since: string | null;
    sentence: string;
    last_words?: string;
  } | null;
}

export type Connection = 'connecting' | 'online' | 'offline';

export interface State {
  /** Null if it is not paired; undefined until it is read. */
  device: OwnDevice | null | undefined;
  /** The server's facts about this device; null before they arrive. */
  welcome: Welcome | null;
  /** Why the server refuses this device, as a sentence. */
  refused: string | null;
  /** The server no longer knows this device, which can only be paired again. */
  unknown: boolean;
  connection: Connection;
  /** The pending prompts, by id; null until they are read. */
  prompts: ReadonlyMap<string, ListedPrompt> | null;
  /** The number of pending prompts beyond those that were read. */
  more: number;
  /** The sessions that have not ended. */
  sessions: readonly SessionShown[];
  /** The sessions that ended last. */
  ended: readonly SessionShown[];
  messages: readonly Message[];
  /** True if there are earlier messages. */
  areEarlier: boolean;
  /** The human's own unprocessed mentions. */
  mentions: readonly MentionShown[];
  /** The pairs of agents that are stopped at present. */
  loops: readonly LoopShown[];
  /** The pairs that the human has muted. */
  muted: readonly LoopShown[];
  outreach: readonly Outreach[];
  outbox: readonly OutboxEntry[];
  /** How often each prompt has changed: a screen that shows it then reads it again. Several may change before a drawing. */
  changes: ReadonlyMap<string, number>;
  /** How often everything was read: changes before that may not have been notified. */
  reads: number;
  /** Whether every list was read. Before that, an empty one says nothing. */
  isRead: boolean;
}

let state: State = {
  device: undefined,
  welcome: null,
  refused: null,
  unknown: false,
  connection: 'connecting',
  prompts: null,
  more: 0,
  sessions: [],
  ended: [],
  messages: [],
  areEarlier: false,
  mentions: [],
  loops: [],
  muted: [],
  outreach: [],
  outbox: [],
  changes: new Map(),
  reads: 0,
  isRead: false,
};
const listeners = new Set<() => void>();

export function update(changes: Partial<State>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

/** The current state; draws again whenever it changes. */
export function useInbox(): State {
  const [shown, show] = useState(state);
  useEffect(() => {
    const listener = (): void => show(state);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return shown;
}

/** Resolves once the first screen is there: the pending questions, pairing, or the reason why neither is shown. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const { device, prompts, connection, refused } = state;
      if (device !== null && prompts === null && connection !== 'offline' && refused === null) return;
      listeners.delete(look);
      resolve();
    };
    listeners.add(look);
    look();
  });
}

/** The device of this page. @throws Error before it is paired: no screen calls anything then. */
function ownDevice(): OwnDevice {
  if (state.device === null || state.device === undefined) throw new Error('This device is not paired.');
  return state.device;
}

/** Calls a method of the desk for this device. @throws Refused, Unreachable. */
export function ask<Result>(method: string, params: object = {}): Promise<Result> {
  return call<Result>(ownDevice(), method, params);
}

// ---- Lists ----

const MOST_SHOWN = 100;

/** A function that reads a list. Replies may arrive out of order: one is not shown after the reply of a later read. */
function ordered(read: (show: typeof update) => Promise<void>): () => Promise<void> {
  let begun = 0;
  let shown = 0;
  return () => {
    begun += 1;
    const number = begun;
    return read((found) => {
      if (number < shown) return;
      shown = number;
      update(found);
    });
  };
}

/** Lists that are being read. A change that is notified in the meantime may be missing in the list, or newer than it. */
const reading = new Set<ListedPrompt[]>();

const readPrompts = ordered(async (show) => {
  const since: ListedPrompt[] = [];
  reading.add(since);
  try {
    const { prompts, more } = await readPages((cursor) =>
      ask('prompt/list', { status: 'pending', limit: 500, cursor }),
    );
    for (const prompt of since) enter(prompts, prompt);
    show({ prompts, more });
  } finally {
    reading.delete(since);
  }
});

function enter(prompts: Map<string, ListedPrompt>, prompt: ListedPrompt): void {
  if (prompt.status === 'pending') prompts.set(prompt.ask_id, prompt);
  else prompts.delete(prompt.ask_id);
}

const readSessions = ordered(async (show) =>
  show({
    sessions: (await ask<{ sessions: SessionShown[] }>('session/list', { state: 'alive' })).sessions,
  }),
);

const readEnded = ordered(async (show) => {
  const params = { state: 'ended', limit: MOST_SHOWN };
  show({ ended: (await ask<{ sessions: SessionShown[] }>('session/list', params)).sessions });
});

const readAllSessions = async (): Promise<void> => {
  await Promise.all([readSessions(), readEnded()]);
};

const readMessages = ordered(async (show) => {
  const params = { limit: MOST_SHOWN };
  const { messages, more } = await ask<{ messages: Message[]; more: boolean }>('message/list', params);
  show({ messages, areEarlier: more });
});

const readMentions = ordered(async (show) => {
  const params = { status: 'unprocessed', limit: MOST_SHOWN };
  show({ mentions: (await ask<{ mentions: MentionShown[] }>('mention/list', params)).mentions });
});

export const readLoops = ordered(async (show) => {
  const { loops } = await ask<{ loops: LoopShown[] }>('mention/loops');
  const inState = (wanted: LoopShown['state']) => loops.filter(({ state: stopped }) => stopped === wanted);
  show({ loops: inState('tripped'), muted: inState('muted') });
});

/** A message, or a prompt that the human typed, ends a loop. */
const readMessagesAndLoops = async (): Promise<void> => {
  await Promise.all([readMessages(), readLoops()]);
};

const readSessionsAndLoops = async (): Promise<void> => {
  await Promise.all([readSessions(), state.loops.length > 0 ? readLoops() : undefined]);
};

const readOutreach = ordered(async (show) =>
  show({
    outreach: (await ask<{ outreach: Outreach[] }>('outreach/list', { limit: MOST_SHOWN })).outreach,
  }),
);

/** The answers of this page that were accepted last, which its screens show. Nothing has to store them. */
let accepted: readonly OutboxEntry[] = [];
const MOST_ACCEPTED = 20;

export const readOutbox = async (): Promise<void> => update({ outbox: [...accepted, ...(await entries())] });

/** Removes an entry whose outcome the human has read. */
export async function dismissEntry({ number = 0 }: OutboxEntry): Promise<void> {
  accepted = accepted.filter((entry) => entry.number !== number);
  await dismiss(number);
  await readOutbox();
}

type PushedKind = PushedPopup['kind'];

/** Removes notifications of this phone. Notifications without a kind, from an older page, are of questions. */
async function closeShown(isOver: (kind: PushedKind, tag: string) => boolean): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications()) ?? []) {
    const { kind = 'question' } = (shown.data ?? {}) as { kind?: PushedKind };
    if (isOver(kind, shown.tag)) shown.close();
  }
}

/** Removes notifications of subjects that are no longer pending: the server may have been away when they were answered. */
async function closeSettled({ prompts, mentions }: State): Promise<void> {
  const open = new Set([...(prompts?.keys() ?? []), ...mentions.map(({ mention_id }) => mention_id)]);
  // If there are many mentions, not all were read.
  const areMentionsKnown = mentions.length < MOST_SHOWN;
  await closeShown((kind, tag) => {
    if (kind === 'outreach' || (kind === 'mention' && !areMentionsKnown)) return false;
    if (tag === STORM_TAGS.mention) return mentions.length === 0;
    return tag === STORM_TAGS.prompt ? prompts?.size === 0 : !open.has(tag);
  });
}

/** Removes the notifications of pings and cards: their screen shows them. */
export const closeOutreach = (): Promise<void> => closeShown((kind) => kind === 'outreach');

/** Reads the pending questions first; the rest follows. */
async function readAll(): Promise<void> {
  update({ reads: state.reads + 1 });
  await readPrompts();
  await Promise.all([readAllSessions(), readMessagesAndLoops(), readMentions(), readOutreach()]);
  update({ isRead: true });
  void closeSettled(state).catch(() => undefined);
}

/** The functions that read what a notification is about. Several notifications at once cause one read. */
const reads: Readonly<Record<string, () => Promise<void>>> = {
  'message/posted': readMessagesAndLoops,
  'mention/changed': readMentions,
  'outreach/received': readOutreach,
  'outreach/changed': readOutreach,
  'session/changed': readAllSessions,
  'turn/changed': readSessionsAndLoops,
  'desk/resync': readAll,
};
const due = new Map<() => Promise<void>, ReturnType<typeof setTimeout>>();
const TOGETHER_MS = 100;
/** A long list is not read often. */
const READ_MORE_MS = 5_000;

function noticed({ method, params }: Notification): void {
  if (method === 'hivemind-ask' || method === 'prompt/changed') {
    const prompt = params as unknown as ListedPrompt;
    for (const since of reading) since.push(prompt);
    const prompts = state.prompts === null ? null : new Map(state.prompts);
    if (prompts !== null) enter(prompts, prompt);
    const { ask_id } = prompt;
    update({ prompts, changes: new Map(state.changes).set(ask_id, (state.changes.get(ask_id) ?? 0) + 1) });
    // Unread prompts move up.
    if (state.more > 0 && prompt.status !== 'pending') readSoon(readPrompts, READ_MORE_MS);
  }
  const read = reads[method];
  if (read !== undefined) readSoon(read);
}

function readSoon(read: () => Promise<void>, ms = TOGETHER_MS): void {
  if (due.has(read)) return;
  due.set(
    read,
    setTimeout(() => {
      due.delete(read);
      read().catch((error: unknown) => {
        // Once the stream has noticed that the server is gone, everything will be read again anyway.
        if (error instanceof Unreachable && state.connection === 'online') readSoon(read, READ_MORE_MS);
      });
    }, ms),
  );
}

// ---- The connection ----

export const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;
/** The next, longer pause: a server that does not recover is asked less and less often. */
export const longer = (ms: number): number => Math.min(LONGEST_RETRY_MS, ms * 2);
let wake: () => void = () => undefined;

let following: AbortController | null = null;

/** Connects at once: the phone woke up, the network changed, or something was queued. A stream that may be dead is ended. */
export function reconnect({ isNewNetwork = false } = {}): void {
  if (isNewNetwork || isSilent()) following?.abort();
  wake();
}

/**
 * Forgets the hive with which this device was paired. Queued entries stay, and are sent once it is paired with that hive again.
 * The questions in its notifications cannot be answered until then.
 */
export async function forget(): Promise<void> {
  await storage((database) => database.delete('device', 'own'));
  update({
    device: null,
    welcome: null,
    refused: null,
    unknown: false,
    prompts: null,
    more: 0,
    isRead: false,
  });
  void closeShown(() => true).catch(() => undefined);
}

/** Asks the server again whether this device may allow permissions. */
export async function readWelcome(): Promise<void> {
  update({ welcome: await signIn(ownDevice()) });
}

/** Runs for as long as the page exists: follows the server, and sends what is queued. */
export async function connect(): Promise<void> {
  try {
    const device = (await storage((database) => database.get('device', 'own'))) ?? null;
    update({ device, outbox: await entries() });
  } catch (error) {
    update({ refused: error instanceof Error ? error.message : String(error) });
    return;
  }
  let retry_ms = FIRST_RETRY_MS;
  for (;;) {
    const paired = state.device;
    if (paired !== null && paired !== undefined) {
      const ended = new AbortController();
      following = ended;
      try {
        if (state.welcome === null) update({ welcome: await signIn(paired), refused: null, unknown: false });
        await follow(paired, {
          signal: ended.signal,
          opened: ({ may_allow }) => {
            const welcome = state.welcome === null ? null : { ...state.welcome, may_allow };
            update({ connection: 'online', refused: null, unknown: false, welcome });
            readAll().then(
              () => {
                retry_ms = FIRST_RETRY_MS;
              },
              () => ended.abort(),
            );
            void flush();
          },
          notified: noticed,
        });
        update({ connection: 'connecting' });
      } catch (error) {
        update({ connection: 'offline' });
        if (error instanceof Refused)
          update({ refused: error.message, unknown: error.code === 'device_not_found' });
        // The server may have no stream for this page, but still answer calls.
        if (error instanceof Failed) await readAll().catch(() => undefined);
      }
    }
    await pause(retry_ms);
    // Until the device is paired, nothing has failed.
    retry_ms = state.device === null ? FIRST_RETRY_MS : longer(retry_ms);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

let flushing: ReturnType<typeof setTimeout> | undefined;
let flush_ms = FIRST_RETRY_MS;

/**
 * Sends what is queued. An entry that cannot be sent now is sent at the next connection, or a little later: the stream of
 * notifications may work while a call fails.
 */
export async function flush(): Promise<void> {
  clearTimeout(flushing);
  await readOutbox();
  try {
    await sendQueued(ownDevice(), async (entry) => {
      // The server replies, even if the connection is often cut.
      flush_ms = FIRST_RETRY_MS;
      if (entry.queued.kind === 'answer' && entry.fate.state === 'done' && entry.fate.reply.accepted === true)
        accepted = [...accepted, entry].slice(-MOST_ACCEPTED);
      await readOutbox();
    });
    flush_ms = FIRST_RETRY_MS;
  } catch {
    reconnect();
    clearTimeout(flushing);
    flushing = setTimeout(() => void flush(), flush_ms);
    flush_ms = longer(flush_ms);
  }
  await readOutbox();
}
