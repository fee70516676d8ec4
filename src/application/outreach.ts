/**
 * Outreach: pings, cards and reports that agents send unasked. Each method is one transaction that checks the rules, charges the
 * budget and writes the row, so that only one of many processes gets the last credit. The sidecar shows it in Emacs, and popups
 * show it on the desktop; the first to show it settles it.
 */
import { HiveError } from '../domain/errors.ts';
import type { EventType } from '../domain/events.ts';
import { EVERY_SEAT } from '../domain/humans.ts';
import {
  type Absence,
  applyOutreachChanges,
  BUDGET,
  BUDGET_BUCKET,
  type CardContent,
  type CardRequest,
  cardContent,
  cardText,
  decideByRules,
  newOutreach,
  type Outreach,
  type OutreachChanges,
  type OutreachContent,
  type OutreachOverrides,
  type OutreachSettings,
  outreachRefused,
  outreachSettings,
  type PingRequest,
  pingContent,
  REPORTS_BLOCKED,
  type Refusal,
  type ReportRequest,
  refusalBySource,
  reportContent,
  type Sender,
} from '../domain/outreach.ts';
import type { PopupSubject } from '../domain/popups.ts';
import { askerOf, type CheckedRequest, checkRequest, createPrompt } from '../domain/prompts.ts';
import { type QuotaRefusal, tooMany } from '../domain/quotas.ts';
import { type Bucket, fullBucket, refundCredit } from '../domain/rates.ts';
import type { Session } from '../domain/sessions.ts';
import { newStopGuard, owesReport, unreportedNotice } from '../domain/stop-guard.ts';
import { timeAfter } from '../domain/times.ts';
import { giveNotice } from './notices.ts';
import type { OutreachFilter, ReadTx, Store, WriteTx } from './ports.ts';
import { insertPrompt } from './prompts.ts';
import { chargeQuotas, demandOfOutreach } from './quotas.ts';
import { type Setter, storePreferences } from './settings.ts';
import type { Ids } from './world.ts';

export interface Reported {
  item: Outreach;
  /** How many pings and cards it covers. */
  reported: number;
  /** Its reader; null: the next main session of the project. */
  reader: string | null;
}

export function createOutreach(store: Store, ids: Ids, audience: Audience) {
  /** Applies the rules to a ping or card. A suppressed one is stored as well, so the refusal must not roll back. */
  async function show(
    given: Session,
    kind: 'ping' | 'card',
    content: OutreachContent,
    actions: CheckedRequest | null = null,
  ): Promise<Outreach> {
    const { handle: agent, project, project_dir } = given;
    const { critical = false } = content;
    const urgency = critical ? 'critical' : 'normal';
    const missing = await audience({ urgency, agent, project, project_dir });
    const { item, refusal } = await store.write(
      async (tx): Promise<{ item: Outreach; refusal: Refusal | QuotaRefusal | null }> => {
        const session = await current(tx, given);
        refuse(refusalBySource(kind, session.source));
        await markUnshown(tx);
        const sender = await senderOf(tx, session);
        const own = { outreach_id: ids.make(kind), number: await tx.outreach.nextNumber() };
        const made = newOutreach(kind, content, sender, own, tx.now);
        const settings = await settingsOf(tx, session);
        const bucket = await budgetOf(tx);
        // A desk that has opened since then will show it.
        const absence = (await tx.desks.online(tx.now)).length > 0 ? null : missing;
        const opinion = decideByRules({
          kind,
          source: session.source,
          critical,
          settings,
          bucket,
          absence,
          unseen: absence === null ? 0 : await tx.outreach.countUnseen(),
          now: tx.now,
        });
        if (opinion.refusal !== null) {
          const { rule } = opinion.refusal;
          const suppressed: Outreach = { ...made, status: 'suppressed', reason: rule };
          await tx.outreach.insert(suppressed);
          await appendOutreach(tx, 'outreach/suppressed', suppressed, { rule });
          return { item: suppressed, refusal: opinion.refusal };
        }
        const beyond = await chargeQuotas(tx, session, demandOfOutreach(made));
        if (beyond !== null) return { item: made, refusal: beyond };
        if (opinion.bucket !== null) await tx.outreach.putBucket(opinion.bucket);
        const charged = opinion.bucket?.name ?? null;
        const sent: Outreach = {
          ...made,
          ...(absence === null ? {} : { status: 'unseen' as const, reason: absence }),
          charged,
          ask_id: actions === null ? null : await askWith(tx, sender, actions),
        };
        await tx.outreach.insert(sent);
        await appendOutreach(tx, absence === null ? 'outreach/sent' : 'outreach/unseen', sent, {
          ask_id: sent.ask_id,
        });
        return { item: sent, refusal: null };
      },
    );
    if (refusal === null) return item;
    if ('quota' in refusal) throw tooMany(refusal);
    const { rule, passes_at, sentence } = refusal;
    throw outreachRefused(sentence, { rule, passes_at, outreach_id: item.outreach_id });
  }

  /** Asks the prompt whose options are the card's actions: pressing one answers the prompt like any other. */
  async function askWith(tx: WriteTx, sender: Sender, actions: CheckedRequest): Promise<string> {
    const prompt = createPrompt(actions, sender, ids.make('ask'), tx.now);
    await insertPrompt(tx, prompt);
    return prompt.ask_id;
  }

  return {
    /** @throws HiveError `outreach_refused` with the rule and when it passes, `too_many`, `invalid_input`. */
    ping: async (request: PingRequest, session: Session): Promise<Outreach> =>
      show(session, 'ping', pingContent(request)),

    /** @throws HiveError `outreach_refused` with the rule and when it passes, `too_many`, `invalid_input`. */
    async card(request: CardRequest, session: Session): Promise<Outreach> {
      const content = cardContent(request);
      return show(session, 'card', content, questionOf(content));
    },

    /** @throws HiveError `outreach_refused`, `invalid_input`. */
    async report(request: ReportRequest, given: Session): Promise<Reported> {
      const content = reportContent(request);
      return store.write(async (tx) => {
        const session = await current(tx, given);
        refuse(refusalBySource('report', session.source));
        const { report_policy } = await settingsOf(tx, session);
        if (report_policy === 'blocked') throw outreachRefused(REPORTS_BLOCKED, { rule: 'report_policy' });
        const { session_id } = session;
        const reader = await readerOf(tx, session);
        const own = { outreach_id: ids.make('report'), number: await tx.outreach.nextNumber() };
        const addressed = { ...content, to_session_id: reader?.session_id ?? null };
        const item = newOutreach('report', addressed, await senderOf(tx, session), own, tx.now);
        const unreported = await tx.outreach.unreported(session_id);
        for (const output of unreported) await tx.outreach.update({ ...output, reported_at: tx.now });
        const guard = (await tx.outreach.guard(session_id)) ?? newStopGuard(session_id);
        await tx.outreach.putGuard({ ...guard, reported_at: tx.now });
        await tx.outreach.insert(item);
        await appendOutreach(tx, 'outreach/sent', item, {
          reports: unreported.map(({ outreach_id }) => outreach_id),
        });
        return { item, reported: unreported.length, reader: reader?.handle ?? null };
      });
    },

    find: (outreach_id: string) => store.read((tx) => tx.outreach.get(outreach_id)),
    list: (filter: OutreachFilter) => store.read((tx) => tx.outreach.list(filter)),
    /** Records the outcome of a ping or card; false if it was already settled. */
    settle: (outreach_id: string, where: OutreachEnd) =>
      store.write((tx) => markOutreach(tx, outreach_id, where)),
    /** The oldest pings and cards kept for a human who was away. */
    unseen: (limit: number) => store.read((tx) => tx.outreach.unseen(limit)),
    /** Marks pings and cards that nobody has shown in time as unseen. Returns how many. */
    markUnshown: () => store.write(markUnshown),

    settings: (): Promise<OutreachSettings> =>
      store.read(async (tx) => outreachSettings(await settingsEverywhere(tx), {})),
    /** Changes the settings: missing ones stay, null restores the default. */
    setSettings: (changes: OutreachChanges, setter?: Setter): Promise<OutreachSettings> =>
      store.write(async (tx) => {
        await storePreferences(tx, EVERY_SEAT, changes, 'emacs', setter);
        return outreachSettings(await settingsEverywhere(tx), {});
      }),
  };
}

/**
 * The reader of a session's reports: the session that started it while that lives, else the most recently active main session
 * of its project.
 */
async function readerOf(
  tx: ReadTx,
  { session_id, parent_session_id, project_dir }: Session,
): Promise<Session | undefined> {
  const parent = parent_session_id === null ? undefined : await tx.sessions.get(parent_session_id);
  if (parent !== undefined && parent.state !== 'ended') return parent;
  return tx.sessions.lastMainOf(project_dir, session_id);
}

/** Moves reports that a session leaves unread to the most recently active main session of its project, if there is one. */
export async function passReportsOn(tx: WriteTx, { session_id, project_dir }: Session): Promise<void> {
  const heir = await tx.sessions.lastMainOf(project_dir, session_id);
  if (heir !== undefined) await tx.outreach.moveReader(session_id, heir.session_id);
}

/** The question for a card's actions; null if it has none. */
function questionOf(content: CardContent): CheckedRequest | null {
  const { title, actions } = content;
  if (actions.length === 0) return null;
  return checkRequest({
    question: title ?? '',
    context: cardText(content),
    header: 'card',
    options: actions.map(({ label, ask }) => ({ label, description: ask })),
  });
}

/** The caller's current record: its source may have been corrected since it was read. */
async function current(tx: ReadTx, session: Session): Promise<Session> {
  const found = await tx.sessions.get(session.session_id);
  if (found === undefined) throw new HiveError('session_not_found', `The session ${session.handle} is gone.`);
  return found;
}

async function senderOf(tx: ReadTx, session: Session): Promise<Sender> {
  return askerOf(session, (await tx.turns.current(session.session_id))?.turn_id ?? null);
}

function refuse(sentence: string | null): void {
  if (sentence !== null) throw outreachRefused(sentence, { rule: 'source' });
}

// ---- Steps that services, hooks and popups share, inside their own transaction ----

async function settingsEverywhere(tx: ReadTx): Promise<OutreachOverrides> {
  return applyOutreachChanges({}, await tx.desks.preferences(EVERY_SEAT));
}

/** The settings that apply to a session. */
export async function settingsOf(tx: ReadTx, session: Session): Promise<OutreachSettings> {
  return outreachSettings(await settingsEverywhere(tx), session.outreach);
}

/** The remaining budget of background sessions. */
async function budgetOf(tx: ReadTx): Promise<Bucket> {
  return (await tx.outreach.bucket(BUDGET_BUCKET)) ?? fullBucket(BUDGET_BUCKET, BUDGET, tx.now);
}

/** The final outcome of a ping or card. */
type OutreachEnd =
  | { status: 'shown'; shown_via: NonNullable<Outreach['shown_via']> }
  /** It was kept, because nobody could see it. */
  | { status: 'unseen'; reason: string };

/**
 * Settles a ping or card; one that was not shown is refunded. The first to settle it wins, but one marked unseen can
 * still be shown.
 */
export async function markOutreach(tx: WriteTx, outreach_id: string, where: OutreachEnd): Promise<boolean> {
  const item = await tx.outreach.get(outreach_id);
  if (item === undefined || item.kind === 'report') return false;
  if (item.status !== 'sent' && !(item.status === 'unseen' && where.status === 'shown')) return false;
  if (where.status === 'shown') {
    await recordOutreach(
      tx,
      'outreach/shown',
      { ...item, ...where, shown_at: tx.now },
      { via: where.shown_via },
    );
    return true;
  }
  if (item.charged !== null) await tx.outreach.putBucket(refundCredit(await budgetOf(tx), BUDGET, tx.now));
  const { reason } = where;
  await recordOutreach(tx, 'outreach/unseen', { ...item, ...where, charged: null }, { reason });
  return true;
}

/** How long a ping or card may take to be shown, in ms. */
const SHOW_WITHIN_MS = 60_000;

/**
 * Marks pings and cards that nobody has shown in time as unseen: the process that should show them is gone, or there is no
 * screen.
 */
async function markUnshown(tx: WriteTx): Promise<number> {
  const before = timeAfter(tx.now, -SHOW_WITHIN_MS);
  const unshown = await tx.outreach.unshown(before);
  for (const { outreach_id } of unshown)
    await markOutreach(tx, outreach_id, { status: 'unseen', reason: 'nobody_there' });
  return unshown.length;
}

/** Stores a change, with its event. */
export async function recordOutreach(
  tx: WriteTx,
  type: EventType,
  item: Outreach,
  data: Record<string, unknown>,
): Promise<void> {
  await tx.outreach.update(item);
  await appendOutreach(tx, type, item, data);
}

/** Appends an event about a ping, card or report. */
export async function appendOutreach(
  tx: WriteTx,
  type: EventType,
  { session_id, outreach_id, kind, status, source, critical }: Outreach,
  data: Record<string, unknown>,
): Promise<void> {
  await tx.events.append({
    type,
    session_id,
    subject: outreach_id,
    data: { kind, status, source, critical, ...data },
  });
}

/**
 * Lets an agent stop with something undone, and notifies its human with `text`. `unreported`: visible output that will not be
 * reported any more.
 */
export async function giveUp(
  tx: WriteTx,
  session: Session,
  { how, unreported, text }: { how: 'stopped' | 'ended'; unreported: readonly Outreach[]; text: string },
): Promise<void> {
  for (const item of unreported) await tx.outreach.update({ ...item, let_go_at: tx.now });
  const outreach_ids = unreported.map(({ outreach_id }) => outreach_id);
  const { session_id } = session;
  await giveNotice(tx, { severity: 'warning', session_id, text, data: { guard: 'stop', outreach_ids } });
  await tx.events.append({
    type: 'stop/guarded',
    session_id,
    subject: session_id,
    data: { change: 'let_go', how, outreach_ids },
  });
}

/** Does the same for a session that ends without its Stop (interrupted, crashed, killed). */
export async function reconcileUnreported(tx: WriteTx, session: Session): Promise<void> {
  if (session.source !== 'bg') return;
  const unreported = await tx.outreach.unreported(session.session_id);
  if (unreported.length === 0) return;
  const settings = await settingsOf(tx, session);
  if (owesReport(session.source, settings, unreported, { reported_in_turn: false }))
    await giveUp(tx, session, {
      how: 'ended',
      unreported,
      text: unreportedNotice(session, unreported, 'ended'),
    });
}

// ---- Whether anybody can see it ----
// Desks show what agents send. If none is open, the popups of this process do, unless the human wants none now or there is no
// desktop. An agent is told at once if nobody can see its message.

/** Returns why nobody could see it; null if somebody could. */
export type Audience = (
  sent: Pick<PopupSubject, 'urgency' | 'agent' | 'project' | 'project_dir'>,
) => Promise<Absence | null>;
