/** Mentions: what an addressee has to deal with, reading it (which changes nothing but a receipt), dealing with it. */
import { type Actor, refusalToProcess, refuse } from '../domain/actors.ts';
import { boundedOptional } from '../domain/bounds.ts';
import { parseDuration } from '../domain/durations.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import {
  MENTION_TTL_MS,
  type MentionInFull,
  type MentionSummary,
  NOTE_LIMIT,
  type UnprocessedCount,
} from '../domain/mentions.ts';
import { deliverMentions, lapseMention, settleMention } from './mention-records.ts';
import type { Logger, MentionFilter, Page, Store, WriteTx } from './ports.ts';

export interface ProcessCommand {
  /** Whose mentions. */
  session_id: string;
  actor: Actor;
  /** These, by mention_id or by message_id. */
  mention_ids?: readonly string[] | undefined;
  /** Or all that are unprocessed. */
  all?: boolean | undefined;
  note?: string | null | undefined;
  /** What carries the result to the addressee; null when somebody else processes. */
  carrier?: string | null | undefined;
}

export interface Processed {
  processed: MentionInFull[];
  /** Those of the processed that had never been carried to their addressee in full: who gets this result reads them now. */
  unread: MentionInFull[];
  /** Ids that were processed or expired before. */
  already: string[];
  /** How many unprocessed ones are left. */
  remaining: number;
}

export interface MentionService {
  has(session_id: string): Promise<UnprocessedCount>;
  /** What a session has to deal with, urgent first, with the receipt of `carrier` (null leaves none). Processes nothing. */
  get(session_id: string, carrier: string | null, limit?: number): Promise<MentionInFull[]>;
  /** @throws HiveError `mention_not_found`, `not_allowed`, `invalid_input`. */
  process(command: ProcessCommand): Promise<Processed>;
  history(filter: MentionFilter): Promise<Page<MentionInFull>>;
  summary(session_id: string): Promise<MentionSummary>;
  /** Expires what is due; every live process does. Returns how many it expired. */
  expireDue(): Promise<number>;
}

/**
 * How long an agent's mention waits before it expires: `HIVE_MENTION_TTL` (`24h`, `90m`, `never`), by default 24 h.
 * Nonsense is as good as nothing: no agent is to be stopped by it, and the log says so.
 */
export function mentionTtl(env: Readonly<Record<string, string | undefined>>, log: Logger): number | null {
  const given = env['HIVE_MENTION_TTL'];
  if (given === undefined || given === '') return MENTION_TTL_MS;
  if (given === 'never') return null;
  try {
    return parseDuration(given);
  } catch {
    log.warn('HIVE_MENTION_TTL is no duration and was ignored: write 24h, 90m or never.', { given });
    return MENTION_TTL_MS;
  }
}

const DUE_BATCH = 200;
/** Processing ends where what was not read would no longer fit one result. */
const UNREAD_BYTES = 48 * 1024;

export function createMentions(store: Store): MentionService {
  const service: MentionService = {
    has: (session_id) => store.read((tx) => tx.mentions.countUnprocessed(session_id)),

    async get(session_id, carrier, limit) {
      const open = await store.read((tx) => tx.mentions.unprocessedOf(session_id, limit));
      if (carrier === null || open.every((mention) => mention.delivered_at !== null)) return open;
      return store.write(async (tx) =>
        deliverMentions(tx, await tx.mentions.unprocessedOf(session_id, limit), carrier),
      );
    },

    async process(command) {
      const { session_id, actor } = command;
      refuse(refusalToProcess(actor, session_id));
      const note = boundedOptional('note', command.note, NOTE_LIMIT);
      const carrier = command.carrier ?? null;
      await service.expireDue();
      return store.write(async (tx) => {
        const chosen =
          command.all === true ? await tx.mentions.unprocessedOf(session_id) : await named(tx, command);
        const waiting = chosen.filter((mention) => mention.status === 'unprocessed');
        const open = carrier === null ? waiting : fitting(waiting);
        const unread = open.filter((mention) => mention.delivered_at === null);
        const read = carrier === null ? open : await deliverMentions(tx, open, carrier);
        const processed: MentionInFull[] = [];
        for (const mention of read) {
          processed.push(await settleMention(tx, mention, { by: actor.by, via: actor.via, note }));
        }
        return {
          processed,
          unread,
          already: chosen.filter((one) => one.status !== 'unprocessed').map((one) => one.mention_id),
          remaining: (await tx.mentions.countUnprocessed(session_id)).count,
        };
      });
    },

    async history(filter) {
      await service.expireDue();
      return store.read((tx) => tx.mentions.list(filter));
    },

    async summary(session_id) {
      await service.expireDue();
      return store.read((tx) => tx.mentions.summary(session_id));
    },

    async expireDue() {
      let expired = 0;
      while ((await store.read((tx) => tx.mentions.due(tx.now, 1))).length > 0) {
        const count = await store.write(async (tx) => {
          const batch = await tx.mentions.due(tx.now, DUE_BATCH);
          for (const mention of batch) await lapseMention(tx, mention);
          return batch.length;
        });
        // Somebody else was first, or the clock was set back in between.
        if (count === 0) break;
        expired += count;
      }
      return expired;
    },
  };
  return service;
}

/** What an addressee has not read yet comes back with the result; what would not fit it stays unprocessed. */
function fitting(mentions: readonly MentionInFull[]): MentionInFull[] {
  let room = UNREAD_BYTES;
  return mentions.filter((mention) => {
    if (mention.delivered_at !== null) return true;
    room -= Buffer.byteLength(mention.body);
    return room >= 0;
  });
}

async function named(
  tx: WriteTx,
  { session_id, mention_ids = [] }: ProcessCommand,
): Promise<MentionInFull[]> {
  if (mention_ids.length === 0) {
    throw invalidInput('Say which mentions: give mention_ids, or all: true.', { field: 'mention_ids' });
  }
  const found = new Map<string, MentionInFull>();
  for (const id of new Set(mention_ids)) {
    const mention = (await tx.mentions.get(id)) ?? (await tx.mentions.ofMessage(id, session_id));
    if (mention === undefined || mention.session_id !== session_id) throw notFound(id);
    found.set(mention.mention_id, mention);
  }
  return [...found.values()];
}

function notFound(mention_id: string): HiveError {
  return new HiveError(
    'mention_not_found',
    `There is no mention "${mention_id}" among these. Nothing was processed; look up the ids, or process all.`,
    { mention_id },
  );
}
