/**
 * The carrier of Codex's own dialogs. Codex shows none while a hook waits, so the hook only stores the permission of a command or an
 * edit, or the questions of request_user_input (hook-dialogs.ts). Once a desk has answered, that desk's process answers the dialog
 * through the control socket, if it is still open. Otherwise the next hook of the session delivers the answer.
 */
import {
  ASKS_COMMAND,
  ASKS_EDIT,
  ASKS_QUESTIONS,
  answersAsked,
  commandAsked,
  editAsked,
} from '../domain/codex-requests.ts';
import { decideDialog } from '../domain/dialogs.ts';
import { OPEN_LIMIT, type Prompt } from '../domain/prompts.ts';
import { hostOf, type Session, threadOf } from '../domain/sessions.ts';
import { PATCH } from '../domain/shown-calls.ts';
import { labelled } from '../domain/sources.ts';
import { type DeliveryService, handPrompt, hookCarrier } from './delivery.ts';
import { conclude, type Dialog, displayedOf } from './dialogs.ts';
import { rememberAllowedEdit } from './edits.ts';
import type { Feed } from './feed.ts';
import { inWords, type OfferedBeside, type WordedDialog } from './hook-dialogs.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import type { CodexDialog } from './world.ts';

type Answering = Pick<Parts, 'store' | 'codex' | 'machine' | 'trust' | 'files' | 'editTools'>;

interface Answered {
  session: Session;
  prompt: Prompt;
  beside: OfferedBeside;
}

/** Answers until the returned function is called. */
export function startCodexAnswers(
  parts: Answering,
  { feed, delivery }: { feed: Feed; delivery: DeliveryService },
): () => Promise<void> {
  const { store, codex, machine } = parts;

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
  const [created] = await tx.events.of(ask_id, 1);
  const beside = created?.data['beside'] as OfferedBeside | undefined;
  const session = await tx.sessions.get(prompt.session_id);
  const isHere = session?.client === 'codex' && session.machine === machine;
  return isHere && beside !== undefined && hostOf(session) === session.session_id
    ? { session, prompt, beside }
    : null;
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

// ---- The permission of a command or an edit ----

type Decision = 'accept' | 'decline';

/** Returns whether Codex has taken the decision; if not, its human is told. Codex takes no words with it: hooks bring them. */
async function answerPermission(
  parts: Answering,
  answered: Answered,
  leaveToHooks: () => Promise<void>,
): Promise<boolean> {
  const { session, prompt } = answered;
  const replyTo = async (request: CodexDialog): Promise<object | null> => {
    const asked = await dialogAsked(parts, answered, request);
    if (asked === null || !isAbout(prompt, asked)) return null;
    const decision = await parts.store.write((tx) => decide(tx, parts, answered, asked));
    const isMeant = decision === decisionOf(asked, [prompt]);
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

/** The dialog of a request, worded again; null if it asks for anything that a desk could not show. */
async function dialogAsked(
  { editTools, files: { readTail } }: Answering,
  { session, prompt, beside }: Answered,
  { method, params, item }: CodexDialog,
): Promise<WordedDialog | null> {
  const event = { client: 'codex', session_id: session.session_id, agent_id: null } as const;
  if (method === ASKS_COMMAND) {
    const command = commandAsked(params);
    if (command === null) return null;
    const { dialog, cwd } = command;
    return inWords(dialog, { ...event, cwd, transcript_path: null }, { readTail });
  }
  if (method !== ASKS_EDIT || item === null || editAsked(params, item) === null) return null;
  const { cwd, transcript_path, edited: input } = beside;
  const tool = { name: PATCH, input, use_id: null, response: null, own: null };
  const asked = await inWords(
    { kind: 'permission', tool, suggestions: [] },
    { ...event, cwd, transcript_path },
    { editTools, readTail, codexItems: async () => [item] },
  );
  // A file that has changed since is left to the terminal.
  return asked.confirmed && asked.requests[0]?.context === prompt.context ? asked : null;
}

/** Whether a prompt is about this dialog, even if somebody has changed its fingerprint or its text. */
function isAbout({ fingerprint, question, context }: Prompt, asked: Dialog): boolean {
  const [request] = asked.requests;
  return fingerprint === asked.fingerprint || (question === request?.question && context === request.context);
}

function decisionOf({ dialog }: WordedDialog, prompts: readonly Prompt[]): Decision | null {
  const answer = decideDialog(dialog, prompts);
  return answer === null ? null : answer.kind === 'allow' ? 'accept' : 'decline';
}

async function decide(
  tx: WriteTx,
  { store, trust }: Answering,
  { session, prompt }: Answered,
  asked: WordedDialog,
): Promise<Decision | null> {
  const decision = await conclude<Decision>(tx, [prompt], {
    carrier: hookCarrier(session.session_id),
    decide: (prompts) => decisionOf(asked, prompts),
    allows: (decided) => decided === 'accept',
    asked: displayedOf(asked),
    store,
    seats: trust().seats,
    refusal: () => 'decline',
    // It has been handed over already (claimAnswers).
    isWhole: () => false,
  });
  const { dialog, expected } = asked;
  if (decision === 'accept' && expected.length > 0 && dialog.kind === 'permission')
    await rememberAllowedEdit(
      { tx, session },
      { session_id: session.session_id, agent_id: null, tool: dialog.tool },
      prompt,
      expected,
    );
  return decision;
}
