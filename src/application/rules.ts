/**
 * The human's rules: lists them with their use, proposes them from a permission or from the history, tries them on the history,
 * and adds them to the human's own file or removes them. The store only has the history (invariant 14). A rule permits something,
 * so only a process whose seat is registered changes the file, as with an answer that permits something.
 */
import { HiveError, invalidInput } from '../domain/errors.ts';
import { hasExpired, type PermissionRule } from '../domain/permission-rules.ts';
import { NOWHERE, type Place } from '../domain/places.ts';
import {
  defaultExpiry,
  draftsFor,
  nameFor,
  type PastCall,
  type PlaceOf,
  type Proposal,
  pastCall,
  proposalKey,
  proposeRules,
  RULE_DAYS,
  type RuleDraft,
  readDraft,
  ruleId,
  type Trial,
  textOfCall,
  tryRule,
  writtenRule,
} from '../domain/rules.ts';
import { isRemote } from '../domain/sessions.ts';
import { DAY_MS, timeAfter } from '../domain/times.ts';
import { allPages, repeatedly } from './background.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { WriteTx } from './ports.ts';
import { findPrompt } from './prompts.ts';
import type { SeatService } from './seats.ts';
import type { Setter } from './settings.ts';
import { recordTrust } from './trust.ts';
import type { Logger } from './world.ts';

/** A rule as the human sees it. */
export interface ListedRule extends Omit<PermissionRule, 'index'> {
  rule_id: string;
  /** Its line in the file, from 1; null if unknown. */
  line: number | null;
  expired: boolean;
  /** How often it has answered, according to the stored events, and when last. */
  uses: number;
  last_used_at: string | null;
}

/** A proposal that was made to the human, and when. */
export interface MadeProposal extends Proposal {
  at: string;
}

/** A past call in short form. */
export interface ShownExample {
  ask_id: string;
  at: string;
  agent: string;
  text: string;
}

/** The answers that a rule would have given in the last `days`, or why it is not a valid rule. */
export interface RuleTrial extends Omit<Trial, 'examples' | 'counter_examples'> {
  /** The problem of the rule, as a sentence; null if it has none. */
  problem: string | null;
  days: number;
  examples: ShownExample[];
  counter_examples: ShownExample[];
}

type RuleParts = Pick<Parts, 'store' | 'seat' | 'trust' | 'ruleFile' | 'placeAt'> & {
  seats: Pick<SeatService, 'isRegistered'>;
};

const PAGE = 500;
const EXAMPLE = 400;

export type RuleService = ReturnType<typeof createRules>;

export function createRules(parts: RuleParts) {
  const { store, seat, seats, trust, ruleFile } = parts;

  /** The readable calls of the last days, oldest first. */
  async function past(): Promise<{ calls: PastCall[]; now: string }> {
    const now = await store.read(async (tx) => tx.now);
    const since = timeAfter(now, -RULE_DAYS * DAY_MS);
    const calls = await allPages({ at: since, ask_id: '' }, async (after) => {
      const { items, next } = await store.read((tx) => tx.rules.past(after, PAGE));
      return { items: items.map(pastCall).filter((call) => call !== null), next };
    });
    return { calls, now };
  }

  /** The places of past calls, with links as they are now. Each directory is examined once. */
  async function places(): Promise<PlaceOf> {
    const placeAt = await parts.placeAt();
    const known = new Map<string, Place>();
    return ({ cwd, machine }) => {
      if (isRemote(machine)) return NOWHERE;
      const place = known.get(cwd) ?? placeAt(cwd);
      known.set(cwd, place);
      return place;
    };
  }

  async function tried(draft: RuleDraft): Promise<RuleTrial> {
    const { calls, now } = await past();
    return trial(draft, { calls, placeOf: await places(), now });
  }

  async function listed(rules: readonly PermissionRule[]): Promise<ListedRule[]> {
    const { uses, now } = await store.read(async (tx) => ({ uses: await tx.rules.uses(), now: tx.now }));
    const lines = await (await ruleFile()).lines();
    return rules.map(({ index, ...rule }) => {
      const used = uses.find(({ name }) => name === rule.name);
      return {
        ...rule,
        rule_id: ruleId({ ...rule, index }),
        line: lines[index] ?? null,
        expired: hasExpired(rule, now),
        uses: used?.uses ?? 0,
        last_used_at: used?.last_used_at ?? null,
      };
    });
  }

  /** @throws HiveError `not_allowed`, `invalid_input`. */
  function refuseChange(): void {
    const [problem] = trust().problems;
    if (problem !== undefined) throw invalidInput(`${problem} Until then no rule can be written.`);
    if (!seats.isRegistered())
      throw new HiveError(
        'not_allowed',
        `Rules are changed only where what you allow counts, and the seat of this process is not registered in ${trust().path}. Edit the file yourself, or see M-x hive-doctor.`,
      );
  }

  /** Records a change that is already on disk as an event. */
  async function record(change: 'added' | 'revoked', rule: ListedRule, setter: Setter): Promise<void> {
    const { line: _, uses: __, last_used_at: ___, expired: ____, ...content } = rule;
    const now = trust();
    await store.write(async (tx) => {
      await tx.events.append({
        type: 'rule/changed',
        subject: rule.rule_id,
        data: { change, ...content, seat, path: now.path, ...setter },
      });
      await recordTrust(tx, { seat, via: 'sidecar' }, now);
      await changeMade(tx, seat, (made) => ({
        ...made,
        open: made.open.filter(({ key }) => key !== proposalKey(rule)),
      }));
    });
  }

  return {
    /**
     * The rules in the file at `path`. `problems`: why nothing in that file permits anything; empty if all of it counts.
     * `proposals`: the rules that the history suggests and the human has neither written nor dismissed.
     */
    async list() {
      const { path, problems, permission_rules } = trust();
      const { open, now } = await store.read(async (tx) => ({
        ...madeIn(await tx.desks.preferences(seat)),
        now: tx.now,
      }));
      const expires = defaultExpiry(now);
      const proposals = open.map((one) => ({ ...one, draft: { ...one.draft, expires } }));
      return { path, problems, rules: await listed(permission_rules), proposals };
    },

    /**
     * The rule that a permission suggests, complete with a name and the day on which it expires. `inputs`: other patterns for its
     * `input`, the narrowest first. @throws HiveError `invalid_input` if no rule could allow it.
     */
    async suggest(ask_id: string) {
      const { prompt, machine, now } = await store.read(async (tx) => {
        const found = await findPrompt(tx, ask_id);
        return { prompt: found, machine: (await tx.sessions.get(found.session_id))?.machine, now: tx.now };
      });
      const call = machine === undefined ? null : pastCall({ ...prompt, machine });
      if (call === null)
        throw invalidInput(
          "No rule can be made from this: rules answer the permissions that an agent's client asks for, and only those whose text is plain.",
        );
      const { calls } = await past();
      const placeOf = await places();
      const drafts = draftsFor(call, placeOf(call), now);
      const taken = trust().permission_rules.map(({ name }) => name);
      const [exact, open = exact] = drafts;
      if (exact === undefined || open === undefined)
        throw invalidInput(
          'No rule can allow this: it has arguments, or a command, that Hive does not understand well enough to allow it unseen.',
        );
      // An open pattern, unless the human has ever denied a call that it would allow.
      const draft = trial(open, { calls, placeOf, now }).denied === 0 ? open : exact;
      const rule = { ...draft, name: nameFor(draft, taken), expires: defaultExpiry(now) };
      return { rule, inputs: drafts.map(({ input }) => input), trial: trial(rule, { calls, placeOf, now }) };
    },

    /** The earlier permissions that the rule would have answered. */
    try: tried,

    /** Writes a rule into the human's file. @throws HiveError `not_allowed` without a registered seat, `invalid_input`. */
    async add(draft: RuleDraft, setter: Setter): Promise<ListedRule> {
      refuseChange();
      const taken = trust().permission_rules.map(({ name }) => name);
      const given = draft.name ?? null;
      const name = given !== null && !taken.includes(given) ? given : nameFor(draft, taken);
      const complete = { ...draft, name };
      const { problems } = readDraft(complete);
      if (problems.length > 0) throw invalidInput(problems.join(' '));
      await (await ruleFile()).add(writtenRule(complete));
      const rule = (await listed(trust().permission_rules)).find((one) => one.name === name);
      if (rule === undefined) throw invalidInput(`${trust().path} does not count: see M-x hive-doctor.`);
      await record('added', rule, setter);
      return rule;
    },

    /** Removes a rule from it. @throws as `add` does. */
    async revoke(rule_id: string, setter: Setter): Promise<ListedRule> {
      refuseChange();
      const rules = trust().permission_rules;
      const found = rules.find((rule) => ruleId(rule) === rule_id);
      const [rule] = found === undefined ? [] : await listed([found]);
      if (found === undefined || rule === undefined)
        throw invalidInput('This rule is no longer in the file: list the rules again.');
      await (await ruleFile()).remove(found.index, (raw) => {
        const [there] = readDraft(raw as RuleDraft).rules;
        // The name of a rule without one comes from its place in the file, so it is not compared.
        return there !== undefined && ruleId({ ...there, name: found.name }) === rule_id;
      });
      await record('revoked', rule, setter);
      return rule;
    },

    /** Searches for a proposal, at most once a day for each seat, and notifies the human of it. Null if there is none today. */
    async propose(): Promise<MadeProposal | null> {
      const isDue = ({ looked_at }: Made, now: string): boolean =>
        looked_at === null || Date.parse(now) - Date.parse(looked_at) >= DAY_MS;
      const first = await store.read(async (tx) => ({
        made: madeIn(await tx.desks.preferences(seat)),
        now: tx.now,
      }));
      if (!isDue(first.made, first.now)) return null;
      const { calls, now } = await past();
      const { permission_rules: rules } = trust();
      const { made, open } = first.made;
      const placeOf = await places();
      const [best] = proposeRules({
        calls,
        rules,
        placeOf,
        now,
        made: new Set([...made, ...open.map(({ key }) => key)]),
      });
      return store.write(async (tx) => {
        const current = madeIn(await tx.desks.preferences(seat));
        // Another process of this seat was faster.
        if (!isDue(current, tx.now)) return null;
        const proposal = best === undefined ? null : { ...best, at: tx.now };
        await changeMade(tx, seat, (before) => ({
          looked_at: tx.now,
          made: best === undefined ? before.made : remembered(before.made, best.key),
          open: proposal === null ? before.open : [...before.open, proposal].slice(-MOST_OPEN),
        }));
        if (proposal === null) return null;
        const { key, draft, allowed } = proposal;
        await tx.events.append({
          type: 'rule/changed',
          subject: key,
          data: { change: 'proposed', seat, ...draft, allowed },
        });
        const text = `You allowed ${draft.tool} ${draft.input} ${allowed} times in ${RULE_DAYS} days and never denied it. M-x hive-rules makes this a rule, or dismisses it.`;
        await giveNotice(tx, {
          severity: 'info',
          text,
          data: { seat, notice: 'rule_proposed', key, rule: draft },
        });
        return proposal;
      });
    },

    /** Never proposes this again. */
    async dismiss(key: string, setter: Setter): Promise<void> {
      await store.write(async (tx) => {
        const { open } = madeIn(await tx.desks.preferences(seat));
        if (!open.some((one) => one.key === key)) throw invalidInput('There is no such proposal any more.');
        await changeMade(tx, seat, (made) => ({
          ...made,
          made: remembered(made.made, key),
          open: made.open.filter((one) => one.key !== key),
        }));
        await tx.events.append({
          type: 'rule/changed',
          subject: key,
          data: { change: 'dismissed', seat, ...setter },
        });
      });
    },
  };
}

function trial(
  draft: RuleDraft,
  { calls, placeOf, now }: { calls: readonly PastCall[]; placeOf: PlaceOf; now: string },
): RuleTrial {
  const { rules, problems } = readDraft(draft);
  const [rule] = rules;
  if (rule === undefined) return { ...NOTHING_TRIED, problem: problems[0] ?? 'This is no rule.' };
  const { examples, counter_examples, ...counts } = tryRule(rule, calls, placeOf, now);
  return {
    ...counts,
    problem: hasExpired(rule, now) ? `The rule ends on ${rule.expires}, which has passed.` : null,
    days: RULE_DAYS,
    examples: examples.map(shown),
    counter_examples: counter_examples.map(shown),
  };
}

const NOTHING_TRIED = {
  allowed: 0,
  denied: 0,
  elsewhere: 0,
  unanswered: 0,
  by_rules: 0,
  days: RULE_DAYS,
  examples: [],
  counter_examples: [],
};

function shown(call: PastCall): ShownExample {
  const { ask_id, at, agent } = call;
  return { ask_id, at, agent, text: textOfCall(call).slice(0, EXAMPLE) };
}

// ---- Which proposals were made ----
// They are stored with the preferences of the seat, under a key that is not a setting. They permit nothing.

interface Made {
  /** When the history was last searched. */
  looked_at: string | null;
  /** The keys of all proposals: none is made twice. */
  made: readonly string[];
  /** The proposals that the human has not decided yet. */
  open: readonly MadeProposal[];
}

const MADE = 'rule_proposals';
const MOST_REMEMBERED = 1_000;
const MOST_OPEN = 20;

function madeIn(stored: Readonly<Record<string, unknown>>): Made & { open: MadeProposal[] } {
  const { looked_at = null, made = [], open = [] } = (stored[MADE] ?? {}) as Partial<Made>;
  return { looked_at, made, open: [...open] };
}

function remembered(made: readonly string[], key: string): string[] {
  return [...made.filter((one) => one !== key), key].slice(-MOST_REMEMBERED);
}

async function changeMade(
  tx: Pick<WriteTx, 'desks'>,
  seat: string,
  change: (made: Made) => Made,
): Promise<void> {
  const stored = await tx.desks.preferences(seat);
  await tx.desks.setPreferences(seat, { ...stored, [MADE]: change(madeIn(stored)) });
}

// ---- Proposing while a process lives ----

const CHECK_EVERY_MS = 60 * 60 * 1000;

/** Searches for proposals now and every hour until the returned function is called; a failure is logged. */
export function startProposals(rules: Pick<RuleService, 'propose'>, log: Logger): () => void {
  const failure = 'Rules could not be proposed; this is tried again in an hour.';
  return repeatedly(log, failure, CHECK_EVERY_MS, () => rules.propose());
}
