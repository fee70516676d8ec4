/**
 * The carrier of Codex's own dialogs. Codex shows none while a hook waits, so the hook only stores a command's permission, or the
 * questions of request_user_input (hook-dialogs.ts). Once a desk has answered, that desk's process answers the dialog through the
 * control socket, if it is still open. Otherwise the next hook of the session delivers the answer.
 */
import {
  ASKS_COMMAND,
  ASKS_QUESTIONS,
  answersAsked,
  type CommandAsked,
  commandAsked,
  SHELL,
} from '../domain/codex-requests.ts';
import { decideDialog, dialogFingerprint, promptsOf } from '../domain/dialogs.ts';
import { checkRequest, OPEN_LIMIT, type Prompt } from '../domain/prompts.ts';
import { hostOf, type Session, threadOf } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { type DeliveryService, handPrompt, hookCarrier } from './delivery.ts';
import { conclude, type Dialog, displayedOf } from './dialogs.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import type { CodexDialog } from './world.ts';

type Answering = Pick<Parts, 'store' | 'feed' | 'codex' | 'machine' | 'trust'>;

interface Answered {
  session: Session;
  prompt: Prompt;
}

/** Answers until the returned function is called. */
export function startCodexAnswers(parts: Answering, delivery: DeliveryService): () => Promise<void> {
  const { store, feed, codex, machine } = parts;

  async function answer(ask_id: string): Promise<void> {
    const answered = await store.read((tx) => answeredHere(tx, ask_id, machine));
    // If the daemon does not host the thread, a hook waits for the answer, or delivers it.
    if (answered === null || !(await (await codex()).hosts(threadOf(answered.session)))) return;
    const claimed = await store.write((tx) => claimAnswers(tx, answered));
    if (claimed.length === 0) return;
    const { session, prompt } = answered;
    const handed = claimed.map(({ ask_id, handed_at }) => ({ ask_id, handed_at: handed_at ?? '' }));
    const leaveToHooks = (): Promise<void> => delivery.markLost(hookCarrier(session.session_id), handed);
    const isConfirmed =
      prompt.kind === 'question'
        ? await answerQuestions(parts, session, claimed)
        : await answerPermission(parts, answered, leaveToHooks);
    if (!isConfirmed) await leaveToHooks();
  }

  return feed.follow({
    async onEvents(events) {
      for (const { type, subject } of events)
        if (type === 'prompt/responded' && subject !== null) await answer(subject);
    },
    // Hooks deliver missed answers, like any others.
    onResync: async () => undefined,
  });
}

/** The prompt with its session, if its dialog may be open in a Codex of this machine, and no hook waits for the answer. */
async function answeredHere(tx: ReadTx, ask_id: string, machine: string): Promise<Answered | null> {
  const prompt = await tx.prompts.get(ask_id);
  if (prompt?.dialog !== true || prompt.handed_at !== null) return null;
  if (prompt.kind !== 'question' && prompt.header !== SHELL) return null;
  const session = await tx.sessions.get(prompt.session_id);
  const isHere = session?.client === 'codex' && session.machine === machine;
  return isHere && hostOf(session) === session.session_id ? { session, prompt } : null;
}

/** Hands over all answers of a dialog, once it is complete, to one process only. */
async function claimAnswers(tx: WriteTx, { session, prompt }: Answered): Promise<Prompt[]> {
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const group = open.filter(({ ask_id, group_id }) =>
    prompt.group_id === null ? ask_id === prompt.ask_id : group_id === prompt.group_id,
  );
  if (!group.every(({ status, handed_at }) => status === 'responded' && handed_at === null)) return [];
  const claimed: Prompt[] = [];
  for (const one of group) claimed.push((await handPrompt(tx, one, hookCarrier(session.session_id))).prompt);
  return claimed;
}

async function answerQuestions(
  { codex }: Answering,
  session: Session,
  prompts: readonly Prompt[],
): Promise<boolean> {
  return (await codex()).answer(threadOf(session), async ({ method, params }) =>
    method === ASKS_QUESTIONS ? answersAsked(params, prompts) : null,
  );
}

// ---- The permission of a command ----

type Decision = 'accept' | 'decline';

/** Returns whether Codex has taken the decision; if not, its human is told. Codex takes no words with it: hooks bring them. */
async function answerPermission(
  parts: Answering,
  answered: Answered,
  leaveToHooks: () => Promise<void>,
): Promise<boolean> {
  const { session, prompt } = answered;
  const replyTo = async ({ method, params }: CodexDialog): Promise<object | null> => {
    const command = method === ASKS_COMMAND ? commandAsked(params) : null;
    if (command === null) return null;
    const asked = {
      requests: promptsOf(command.dialog, { client: 'codex', cwd: command.cwd }).map(checkRequest),
      fingerprint: dialogFingerprint(command.dialog),
    };
    if (!isAbout(prompt, asked)) return null;
    const decision = await parts.store.write((tx) => decide(tx, parts, { ...answered, command, asked }));
    const isMeant = decision === decisionOf(command, [prompt]);
    // Before Codex goes on: its next hook may be the last of the turn.
    if (!isMeant || prompt.comment !== null || prompt.selected.length === 0) await leaveToHooks();
    return decision === null ? null : { decision };
  };
  if (await (await parts.codex()).answer(threadOf(session), replyTo)) return true;
  const text = `Your answer to ${labelled(prompt)} did not reach its dialog, which was answered in its terminal or is still open there: ${prompt.question}`;
  await parts.store.write((tx) =>
    giveNotice(tx, { severity: 'warning', session_id: prompt.session_id, text }),
  );
  return false;
}

/** Whether a prompt is about this dialog, even if somebody has changed its fingerprint or its text. */
function isAbout({ fingerprint, question, context }: Prompt, asked: Dialog): boolean {
  const [request] = asked.requests;
  return fingerprint === asked.fingerprint || (question === request?.question && context === request.context);
}

function decisionOf({ dialog }: CommandAsked, prompts: readonly Prompt[]): Decision | null {
  const answer = decideDialog(dialog, prompts);
  return answer === null ? null : answer.kind === 'allow' ? 'accept' : 'decline';
}

function decide(
  tx: WriteTx,
  { store, trust }: Answering,
  { session, prompt, command, asked }: Answered & { command: CommandAsked; asked: Dialog },
): Promise<Decision | null> {
  return conclude<Decision>(tx, [prompt], {
    carrier: hookCarrier(session.session_id),
    decide: (prompts) => decisionOf(command, prompts),
    allows: (decision) => decision === 'accept',
    asked: displayedOf(asked),
    store,
    seats: trust().seats,
    refusal: () => 'decline',
    // It has been handed over already (claimAnswers).
    isWhole: () => false,
  });
}
