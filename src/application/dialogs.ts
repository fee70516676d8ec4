/**
 * The station of dialogs: what an agent's client asks its person by itself is asked at the desk as well. The
 * hook waits outside of any transaction; whoever answers first wins; left alone, everything is as if no hook
 * were there.
 */
import { machineOfSeat } from '../domain/desks.ts';
import { ALLOW, DENY } from '../domain/dialog-permissions.ts';
import { decideDialog, promptsOf } from '../domain/dialog-prompts.ts';
import { type Dialog, type DialogAnswer, dialogOf } from '../domain/dialogs.ts';
import type { Verdict, Waited } from '../domain/hooks.ts';
import { interruptedBy, stopPrinted } from '../domain/interrupts.ts';
import type { PermissionRule } from '../domain/permission-rules.ts';
import { createPrompt } from '../domain/prompt-asking.ts';
import type { Prompt } from '../domain/prompts.ts';
import { pleaseStop } from '../domain/turn-sentences.ts';
import { handOne, hookCarrier } from './delivery.ts';
import { ELSEWHERE } from './dialog-closings.ts';
import { patienceFor, ruleFor } from './dialog-settings.ts';
import { insertPrompt, recordAnswer, recordCancel } from './prompt-records.ts';
import type { Station, Visit } from './station.ts';
import { closeTurn, turnOf } from './turn-records.ts';

export const answerDialogs: Station = async (visit) => {
  const { event, verdict, waited } = visit;
  const dialog = dialogOf(event);
  if (dialog === null) return null;
  if (waited !== null) return conclude(visit, dialog, waited);
  return verdict.deny !== null || verdict.end_turn !== null ? null : open(visit, dialog);
};

async function open(visit: Visit, dialog: Dialog): Promise<Partial<Verdict> | null> {
  const { tx } = visit;
  const rule = await ruleFor(visit, dialog);
  if (rule !== null) return answerByRule(visit, dialog, rule);
  if (visit.event.client === 'codex' && dialog.kind === 'questions') return offerBeside(visit, dialog);
  const patience = patienceFor(visit, dialog);
  // Nobody is at a desk: the terminal is asked at once, and alone.
  if (patience === null || (await tx.desks.online(tx.now)).length === 0) return null;
  const { wait_ms, hidden } = patience;
  const ask_ids = await store(visit, await ask(visit, dialog, wait_ms));
  return ask_ids.length === 0 ? null : { wait: { ask_ids, wait_ms, all: true, needs_desk: hidden } };
}

/** Codex shows the dialog as soon as this hook has ended; the answer takes another way (codex-answers.ts). */
async function offerBeside(visit: Visit, dialog: Dialog): Promise<null> {
  const { tx, event, settings } = visit;
  const given = settings.env['HIVE_QUESTIONS'];
  // Its subagents may not ask.
  if (given === 'off' || event.agent_id !== null || settings.codexListens?.() !== true) return null;
  const desks = await tx.desks.online(tx.now);
  if (!desks.some(({ seat }) => machineOfSeat(seat) === settings.machine)) return null;
  const timeout_ms = Number(given) > 0 ? Math.max(1, Number(given)) * 1_000 : null;
  await store(visit, await ask(visit, dialog, timeout_ms));
  return null;
}

/** Stores the prompts of one dialog as one group; their ids. */
async function store({ tx, ids }: Visit, prompts: readonly Prompt[]): Promise<string[]> {
  const group_id = prompts.length > 1 ? ids.make('group') : null;
  for (const prompt of prompts) await insertPrompt(tx, { ...prompt, group_id });
  return prompts.map(({ ask_id }) => ask_id);
}

/** The prompts of a dialog, not stored yet; their ids are in their order, as lists show them. */
async function ask(visit: Visit, dialog: Dialog, timeout_ms: number | null): Promise<Prompt[]> {
  const { tx, event, session, ids } = visit;
  const { session_id, handle: agent, source, project, project_dir } = session;
  const turn_id = (await tx.turns.current(session_id))?.turn_id ?? null;
  const asker = { session_id, agent, source, project, project_dir, turn_id };
  const requests = promptsOf(dialog, event);
  const ask_ids = requests.map(() => ids.make('ask')).sort();
  return requests.map((request, n) => ({
    ...createPrompt({ ...request, timeout_ms }, asker, ask_ids[n] ?? '', tx.now),
    dialog: true,
  }));
}

/** A rule answers as a human would, and stands in the log as one who answered. */
async function answerByRule(
  visit: Visit,
  dialog: Dialog,
  { name, decision, note }: PermissionRule,
): Promise<Partial<Verdict> | null> {
  const { tx, ids, session } = visit;
  const [prompt] = await ask(visit, dialog, null);
  if (prompt === undefined) return null;
  await insertPrompt(tx, prompt);
  const label = decision === 'allow' ? ALLOW : DENY;
  const { prompt: settled } = await recordAnswer(tx, prompt, {
    decision: label,
    selected: [label],
    comment: decision === 'deny' ? note : null,
    by: name,
    via: 'rule',
    response_id: ids.make('response'),
    responded_at: tx.now,
  });
  await handOne(tx, settled, hookCarrier(session.session_id));
  return { decision: decideDialog(dialog, [settled]), carries: true };
}

async function conclude(visit: Visit, dialog: Dialog, waited: Waited): Promise<Partial<Verdict> | null> {
  const { tx, session, verdict } = visit;
  const found = await Promise.all(waited.ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  const prompts = found.filter((prompt) => prompt !== undefined);
  const stop = await interruptedMeanwhile(visit);
  if (stop !== null) return { decision: stop };
  const answered = prompts.every(({ status }) => status === 'responded');
  if (!answered || waited.abandoned || verdict.deny !== null) {
    for (const prompt of prompts) await recordCancel(tx, prompt, ELSEWHERE);
    return null;
  }
  const decision = decideDialog(dialog, prompts);
  if (decision === null) return null;
  for (const prompt of prompts) {
    // A word beside a yes has no place in the client's answer: it comes with the next hook.
    if (isTold(decision, dialog, prompt)) await handOne(tx, prompt, hookCarrier(session.session_id));
  }
  if (decision.kind === 'deny' && decision.interrupt) await endTurnFor(visit, prompts[0]);
  return { decision, carries: true };
}

function isTold(decision: DialogAnswer, { kind }: Dialog, { comment }: Prompt): boolean {
  return comment === null || decision.kind === 'deny' || kind === 'questions';
}

/** Somebody wants the turn stopped while its dialog waits, where no other hook would fire: the dialog ends it. */
async function interruptedMeanwhile({ tx, event, session }: Visit): Promise<DialogAnswer | null> {
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined || event.client !== 'claude-code' || event.name !== 'PermissionRequest') return null;
  const [asked] = await tx.turns.pendingInterrupts(turn.turn_id);
  if (asked === undefined) return null;
  await closeTurn(tx, stopPrinted(turn, tx.now), interruptedBy(asked));
  return { kind: 'deny', message: pleaseStop(asked), interrupt: true };
}

/** Abort: the client stops without a further hook, so the turn ends here. */
async function endTurnFor({ tx, session }: Visit, prompt: Prompt | undefined): Promise<void> {
  const turn = await tx.turns.current(session.session_id);
  if (turn === undefined || prompt === undefined) return;
  const { by, via, comment: note } = prompt;
  await closeTurn(tx, stopPrinted(turn, tx.now), {
    state: 'aborted',
    abort_reason: 'interrupted',
    by,
    via,
    note,
  });
}
