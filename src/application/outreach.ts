/**
 * Outreach: what agents send unasked. Each method is one transaction: the rules are asked, what they grant is
 * charged, and the row is written together, so that of many processes one gets the last token. Showing is
 * another's: the sidecar tells Emacs, popups tell the desktop, and the first of them settles it.
 */
import { EVERY_SEAT } from '../domain/desks.ts';
import { HiveError } from '../domain/errors.ts';
import {
  type CardRequest,
  cardText,
  createCard,
  createPing,
  createReport,
  type Outreach,
  type PingRequest,
  type ReportRequest,
  type Sender,
} from '../domain/outreach.ts';
import {
  askRules,
  type Busy,
  humanBusy,
  type OutreachChanges,
  type OutreachSettings,
  outreachRefused,
  outreachSettings,
  REPORTS_BLOCKED,
  type Refusal,
  refusalBySource,
} from '../domain/outreach-rules.ts';
import { momentOf, preferencesFrom } from '../domain/preferences.ts';
import { createPrompt } from '../domain/prompt-asking.ts';
import type { Session } from '../domain/sessions.ts';
import { newStopGuard } from '../domain/stop-guard.ts';
import type { Audience } from './audience.ts';
import {
  bucketOf,
  settingsEverywhere,
  settingsOf,
  settleOutreach,
  settleUnshown,
  tell,
  type Whereto,
} from './outreach-records.ts';
import type { Ids, OutreachFilter, Page, ReadTx, Store, WriteTx } from './ports.ts';
import { insertPrompt } from './prompt-records.ts';
import { storePreferences } from './settings.ts';

export interface Reported {
  item: Outreach;
  /** How much visible output it told of. */
  reported: number;
  /** Who reads it; null when that is whoever speaks next in the project's main session. */
  reader: string | null;
}

export interface OutreachService {
  /** @throws HiveError `outreach_refused` with the rule and when it passes, `invalid_input`. */
  ping(request: PingRequest, session: Session): Promise<Outreach>;
  /** @throws HiveError `outreach_refused` with the rule and when it passes, `invalid_input`. */
  card(request: CardRequest, session: Session): Promise<Outreach>;
  /** @throws HiveError `outreach_refused`, `invalid_input`. */
  report(request: ReportRequest, session: Session): Promise<Reported>;
  get(outreach_id: string): Promise<Outreach | undefined>;
  list(filter: OutreachFilter): Promise<Page<Outreach>>;
  /** The oldest pings and cards that are kept for a human who was away. */
  unseen(limit: number): Promise<Outreach[]>;
  /** Where a ping or card went; false when that was settled before. */
  settle(outreach_id: string, where: Whereto): Promise<boolean>;
  /** What nobody has shown in time is unseen. Returns how many. */
  settleUnshown(): Promise<number>;
  settings(): Promise<OutreachSettings>;
  /** What Emacs sets: what is left out stays, null goes back to the default. */
  setSettings(changes: OutreachChanges): Promise<OutreachSettings>;
}

export function createOutreach(store: Store, ids: Ids, audience: Audience): OutreachService {
  /** Puts what an agent wants shown before the rules. A suppressed one is kept, too: the refusal is no exception inside. */
  async function show(
    given: Session,
    critical: boolean,
    kind: 'ping' | 'card',
    create: (sender: Sender, own: { outreach_id: string; number: number }, now: string) => Outreach,
  ): Promise<Outreach> {
    const { project, project_dir } = given;
    const missing = await audience({ critical, project, project_dir });
    const { item, refusal } = await store.write(
      async (tx): Promise<{ item: Outreach; refusal: Refusal | null }> => {
        const session = await current(tx, given);
        refuse(refusalBySource(kind, session.source));
        await settleUnshown(tx);
        const sender = await senderOf(tx, session);
        const made = create(
          sender,
          { outreach_id: ids.make(kind), number: await tx.outreach.nextNumber() },
          tx.now,
        );
        const settings = await settingsOf(tx, session);
        const bucket = await bucketOf(tx, session, settings);
        // A desk that was opened since shows it.
        const absence = (await tx.desks.online(tx.now)).length > 0 ? null : missing;
        const opinion = askRules({
          kind,
          source: session.source,
          critical,
          settings,
          outputs: await tx.outreach.outputs(session.session_id, sender.turn_id),
          turn_known: sender.turn_id !== null,
          busy: settings.mind_busy ? await busyHuman(tx) : null,
          bucket,
          absence,
          unseen: absence === null ? 0 : await tx.outreach.countUnseen(),
          now: tx.now,
        });
        if (opinion.refusal !== null) {
          const { rule } = opinion.refusal;
          const suppressed: Outreach = { ...made, status: 'suppressed', reason: rule };
          await tx.outreach.insert(suppressed);
          await tell(tx, 'outreach/suppressed', suppressed, { rule });
          return { item: suppressed, refusal: opinion.refusal };
        }
        if (opinion.bucket !== null) await tx.outreach.putBucket(opinion.bucket);
        const charged = opinion.bucket === null || critical ? null : opinion.bucket.name;
        const sent: Outreach = {
          ...made,
          ...(absence === null ? {} : { status: 'unseen' as const, reason: absence }),
          charged,
          ask_id: await askWith(tx, made),
        };
        await tx.outreach.insert(sent);
        await tell(tx, absence === null ? 'outreach/sent' : 'outreach/unseen', sent, { ask_id: sent.ask_id });
        return { item: sent, refusal: null };
      },
    );
    if (refusal === null) return item;
    const { rule, passes_at, sentence } = refusal;
    throw outreachRefused(sentence, { rule, passes_at, outreach_id: item.outreach_id });
  }

  /** A card's actions are the options of a prompt: whoever presses one answers it, with all that a prompt has. */
  async function askWith(tx: WriteTx, card: Outreach): Promise<string | null> {
    if (card.actions.length === 0) return null;
    const { session_id, agent, source, project, project_dir, turn_id } = card;
    const prompt = createPrompt(
      {
        question: card.title ?? '',
        context: cardText(card),
        header: 'card',
        options: card.actions.map(({ label, ask }) => ({ label, description: ask })),
      },
      { session_id, agent, source, project, project_dir, turn_id },
      ids.make('ask'),
      tx.now,
    );
    await insertPrompt(tx, prompt);
    return prompt.ask_id;
  }

  return {
    ping: (request, session) =>
      show(session, request.critical ?? false, 'ping', (sender, own, now) =>
        createPing(request, sender, own, now),
      ),

    card: (request, session) =>
      show(session, false, 'card', (sender, own, now) => createCard(request, sender, own, now)),

    report: (request, given) =>
      store.write(async (tx) => {
        const session = await current(tx, given);
        refuse(refusalBySource('report', session.source));
        const { report_policy } = await settingsOf(tx, session);
        if (report_policy === 'blocked') throw outreachRefused(REPORTS_BLOCKED, { rule: 'report_policy' });
        const { session_id, parent_session_id } = session;
        const own = {
          outreach_id: ids.make('report'),
          number: await tx.outreach.nextNumber(),
          to_session_id: parent_session_id,
        };
        const item = createReport(request, await senderOf(tx, session), own, tx.now);
        const unreported = await tx.outreach.unreported(session_id);
        for (const output of unreported) await tx.outreach.update({ ...output, reported_at: tx.now });
        const guard = (await tx.outreach.guard(session_id)) ?? newStopGuard(session_id);
        await tx.outreach.putGuard({ ...guard, reported_at: tx.now });
        await tx.outreach.insert(item);
        await tell(tx, 'outreach/sent', item, { reports: unreported.map(({ outreach_id }) => outreach_id) });
        const reader = parent_session_id === null ? undefined : await tx.sessions.get(parent_session_id);
        const alive = reader !== undefined && reader.state !== 'ended';
        return { item, reported: unreported.length, reader: alive ? reader.handle : null };
      }),

    get: (outreach_id) => store.read((tx) => tx.outreach.get(outreach_id)),
    list: (filter) => store.read((tx) => tx.outreach.list(filter)),
    settle: (outreach_id, where) => store.write((tx) => settleOutreach(tx, outreach_id, where)),

    unseen: (limit) => store.read((tx) => tx.outreach.unseen(limit)),

    settleUnshown: () => store.write(settleUnshown),

    settings: () => store.read(async (tx) => outreachSettings(await settingsEverywhere(tx), {})),
    setSettings: (changes) =>
      store.write(async (tx) => {
        await storePreferences(tx, EVERY_SEAT, changes, 'emacs');
        return outreachSettings(await settingsEverywhere(tx), {});
      }),
  };
}

/** The caller as it is now: its source may have been corrected since it was looked up. */
async function current(tx: ReadTx, session: Session): Promise<Session> {
  const found = await tx.sessions.get(session.session_id);
  if (found === undefined) throw new HiveError('session_not_found', `The session ${session.handle} is gone.`);
  return found;
}

async function senderOf(tx: ReadTx, session: Session): Promise<Sender> {
  const { session_id, handle: agent, source, project, project_dir } = session;
  const turn = await tx.turns.current(session_id);
  return { session_id, agent, source, project, project_dir, turn_id: turn?.turn_id ?? null };
}

function refuse(sentence: string | null): void {
  if (sentence !== null) throw outreachRefused(sentence, { rule: 'source' });
}

/** Whether the human is busy: at the desks that are open, else wherever wishes were left. */
async function busyHuman(tx: ReadTx): Promise<Busy | null> {
  const desks = await tx.desks.online(tx.now);
  const seats = [...new Set(desks.map((desk) => desk.seat))];
  const wishes =
    seats.length > 0
      ? await Promise.all(seats.map((seat) => tx.desks.preferences(seat)))
      : await tx.outreach.everySeat();
  return humanBusy(
    wishes.map(preferencesFrom),
    await tx.outreach.answeringSince(),
    momentOf(new Date(tx.now)),
  );
}
