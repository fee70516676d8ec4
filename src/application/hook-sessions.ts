/**
 * Which session a hook speaks for, and when that session begins and ends: it is registered when first seen, reopened by a
 * resume, ended by SessionEnd, and continued by the next one after /clear and /bg. This follows recordings of the real clients.
 */
import { HiveError } from '../domain/errors.ts';
import { type HookEvent, isHumanPrompt, sessionOf, type Waited } from '../domain/hooks.ts';
import { QUOTA_BUCKETS } from '../domain/quotas.ts';
import { hostOf, isRemote, reportedId, type Session, subagentId } from '../domain/sessions.ts';
import { decideSource, labelled } from '../domain/sources.ts';
import { cleanOptional, excerpt } from '../domain/text.ts';
import { clientTitle, continuedIn } from '../domain/transcripts.ts';
import type { HookHandler, HookSurroundings } from './hook-context.ts';
import {
  codexAbove,
  isReused,
  parentNamed,
  provenClient,
  refusalToSpeak,
  runsStill,
  type Speaker,
  sessionBehind,
  toolUseKey,
  withParent,
} from './identity.ts';
import { giveNoticeSeldom, NoticedRefusal } from './notices.ts';
import type { WriteTx } from './ports.ts';
import { recordSession } from './session-state.ts';
import {
  endSession,
  newSession,
  recordFoundEnd,
  renamed,
  reopenSession,
  retitle,
  type TitleReport,
} from './sessions.ts';
import { takeOver } from './takeovers.ts';
import { endFromTranscript } from './turns.ts';
import type { Processes } from './world.ts';

/**
 * The names that an event gives its session. Called before a transaction, because it reads the end of a file of the client.
 */
export function titlesIn(
  event: HookEvent,
  {
    readTail,
    client_title = clientTitle(event, readTail),
  }: Pick<HookSurroundings, 'readTail' | 'client_title'>,
): TitleReport {
  const { prompt } = event;
  return {
    ...(client_title === undefined ? {} : { client_title }),
    ...(isHumanPrompt(event) && prompt !== null ? { first_words: excerpt(prompt.slice(0, 1_000), 200) } : {}),
  };
}

/** An event, and the process that reports it. */
export interface ReportedHook {
  event: HookEvent;
  surroundings: HookSurroundings;
  speaker: Speaker;
  processes: Processes;
  /** Null unless the event has waited. Its session may have ended since, and the event does not reopen it. */
  waited: Waited | null;
}

/**
 * The session of an event, updated in the store, including what it inherits from the session that it continues. `report` has the
 * names that the event gives the session.
 */
export async function sessionOfHook(tx: WriteTx, hook: ReportedHook, report: TitleReport): Promise<Session> {
  const { event, surroundings } = hook;
  // The server has derived the id of a remote agent from its token and its client's report.
  if (!isRemote(surroundings.machine)) reportedId(event.session_id);
  const found = (await knownRoot(tx, hook)) ?? (await newRoot(tx, hook));
  const { first_words, ...titles } = report;
  const root = await retitle(tx, found, found.first_words === null ? report : titles);
  await goOnAfterResume(tx, hook, root);
  const own = event.agent_id === null ? root : await subagent(tx, hook, event.agent_id, root);
  if (own.state !== 'ended' && !isFresh(own, event, tx.now))
    await tx.sessions.touchByHook(own.session_id, tx.now);
  if (event.name === 'PreToolUse' && event.tool?.own != null && event.tool.use_id !== null) {
    await tx.sessions.recordCaller(toolUseKey(own.machine, event.tool.use_id), own.session_id);
  }
  const begun = root.state === 'ended' ? [] : event.background_agents;
  for (const agent_id of begun) await becomeBackground(tx, agent_id, root);
  if (event.running_agents !== null) await endStoppedSubagents(tx, event.running_agents, root);
  if (event.client === 'codex' && event.name === 'UserPromptSubmit') await endFound(tx, hook, root);
  return { ...own, last_seen_at: tx.now, hooks_seen_at: tx.now };
}

/** The event, without its client process if the hook could not prove it: such a process inherits nothing and gets no signal. */
export async function provenEvent(
  tx: WriteTx,
  { event, speaker, processes }: Pick<ReportedHook, 'event' | 'speaker' | 'processes'>,
): Promise<HookEvent> {
  const pid = await provenClient(tx, event.pid, speaker, processes);
  return pid === event.pid ? event : { ...event, pid };
}

/** The hook as a `Speaker` for its session. */
export function speakerOf({ machine, pid, above }: HookSurroundings, processes: Processes): Speaker {
  if (isRemote(machine)) return { machine, pid: null, above: [] };
  return { machine, pid, above: above ?? processes.ancestors(pid) };
}

/**
 * Notifies the human of hooks from a process on this machine that is not the client of the session that they name; at most
 * once an hour for each session, because every hook of that process is refused.
 */
async function noticeOther(tx: WriteTx, session: Session): Promise<void> {
  const { session_id, pid, client } = session;
  const fork = client === 'claude-code' ? ', or open the second with --fork-session' : '';
  await giveNoticeSeldom(tx, `${QUOTA_BUCKETS}other:${session_id}`, {
    severity: 'warning',
    session_id,
    text: `${labelled(session)} runs in process ${pid}, and another process claims to be the same session. Hive ignores the other one: it does not ask, hold, deliver or record anything for it. If you have opened the conversation twice, close one of them${fork}.`,
    data: { notice: 'other_process' },
  });
}

/** How often the last-seen time of a working session is updated, in ms. */
const TOUCH_MS = 5_000;

/**
 * Whether a tool call adds nothing about a session that was seen a moment ago. This is so for most hooks, and a transaction that
 * changes nothing does not wait for the disk.
 */
function isFresh({ hooks_seen_at }: Session, { tool }: HookEvent, now: string): boolean {
  return tool !== null && hooks_seen_at !== null && Date.parse(now) - Date.parse(hooks_seen_at) < TOUCH_MS;
}

/** A report of an end may arrive after its session has ended, and does not reopen it. */
const ENDINGS: ReadonlySet<string> = new Set(['SessionEnd', 'Interrupt']);
/** Nor does one of something that was over by then. If the session had only been silent, it comes much later. */
const OVER: ReadonlySet<string> = new Set([
  'Stop',
  'StopFailure',
  'SubagentStop',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'PermissionDenied',
  'ElicitationResult',
  'Notification',
]);
/** In ms: how late the latter may be. */
const LATE_MS = 60_000;

function isLate({ name }: HookEvent, { ended_at }: Session, now: string): boolean {
  return ENDINGS.has(name) || (OVER.has(name) && Date.parse(now) - Date.parse(ended_at ?? now) < LATE_MS);
}

async function knownRoot(
  tx: WriteTx,
  { event, surroundings: { machine, env }, speaker, processes, waited }: ReportedHook,
): Promise<Session | undefined> {
  const known = await tx.sessions.get(event.session_id);
  const claimed = await sessionBehind(tx, event.session_id, known);
  if (claimed === undefined) return undefined;
  const refusal = await refusalToSpeak(tx, claimed, speaker, processes);
  if (refusal !== null) {
    const refused = new HiveError('not_allowed', refusal);
    throw isRemote(machine) ? refused : new NoticedRefusal(refused, (later) => noticeOther(later, claimed));
  }
  if (known === undefined) return undefined;
  if (known.state === 'ended' && (waited !== null || isLate(event, known, tx.now))) return known;
  const codex = codexAbove(event.client, speaker.above, processes);
  // A session that Codex resumes has left the process of its earlier server.
  const pid = codex === null || (await runsStill(tx, known, processes)) ? (event.pid ?? known.pid) : null;
  const shell_pid = codex ?? known.shell_pid;
  const session = { ...known, pid, shell_pid, machine, source: sourceNow(known, event) };
  if (known.state === 'ended') return reopenSession(tx, session, env['HIVE_AGENT']);
  if (known.source !== session.source) return recordSession(tx, 'session/changed', session);
  if (known.pid !== pid || known.shell_pid !== shell_pid) await tx.sessions.upsert(session);
  return session;
}

/** At these starts the source is decided by the event alone. While a session continues, its known source is kept. */
const BEGINS: ReadonlySet<string | null> = new Set(['startup', 'resume', 'fork']);

function sourceNow({ source, source_fixed }: Session, event: HookEvent): Session['source'] {
  const begins = event.name === 'SessionStart' && BEGINS.has(event.reason);
  return decideSource({
    corrected: source_fixed ? source : null,
    current: begins ? null : source,
    reported: event.source,
  });
}

async function newRoot(tx: WriteTx, hook: ReportedHook): Promise<Session> {
  const { event, surroundings, speaker, processes } = hook;
  const { session_id, client, source, pid } = event;
  const { env, machine } = surroundings;
  const before = await predecessor(tx, hook);
  // A fork in the same terminal comes from the session that ran there until now.
  const origin =
    event.reason === 'fork' && pid !== null ? await tx.sessions.lastHookedOfProcess(machine, pid) : undefined;
  const shell_pid = codexAbove(client, speaker.above, processes);
  const introduction = {
    session_id,
    client,
    source,
    pid,
    shell_pid,
    machine,
    name: env['HIVE_AGENT'],
    parent_session_id: before?.parent_session_id ?? parentNamed(env),
    ...surroundings.findProject(),
  };
  // A session that continues another has the same parent; the client's process may still be registered for the other one. That
  // of a Codex hosts other conversations, which are no parents of this one.
  const own = pid ?? shell_pid;
  const at = own === null ? -1 : speaker.above.indexOf(own);
  const above = before === undefined ? speaker.above.slice(at + 1) : [];
  const started =
    origin === undefined
      ? await withParent(tx, introduction, above, processes)
      : { ...introduction, parent_session_id: origin.session_id };
  const introduced = await newSession(tx, started, before);
  if (before === undefined) return recordSession(tx, 'session/started', introduced);
  const session = await recordSession(tx, 'session/started', inherited(before, introduced, before.source));
  await takeOver(tx, before, session);
  await goOnBelow(tx, before, session);
  // After /clear, the client has ended it. In other cases it ends here.
  const left = await tx.sessions.get(before.session_id);
  if (left !== undefined) await endSession(tx, left);
  return session;
}

/** A session that continues `before`: the human's settings for that one apply to it. `current` is the source known so far. */
function inherited(before: Session, session: Session, current: Session['source'] | null): Session {
  const { shared, roles, gate, room, room_read, room_news, outreach, source_fixed } = before;
  return {
    ...session,
    continues: before.session_id,
    shared,
    roles,
    gate,
    room,
    room_read,
    room_news,
    outreach,
    source_fixed,
    source: decideSource({
      corrected: source_fixed ? before.source : null,
      current,
      reported: session.source,
    }),
  };
}

/** In ms: how long after the start of the next session in the background the end of the one before may be reported. */
const HANDOVER_MS = 60_000;

/**
 * The id under which this session goes on in the background; null if it ends for good. The end and the next session's start come
 * in either order, and the next session may work at once. Only a new session in the background takes anything over.
 */
async function nextInBackground(
  tx: WriteTx,
  event: HookEvent,
  session: Session,
  surroundings: HookSurroundings,
): Promise<string | null> {
  if (event.name !== 'SessionEnd' || event.reason === 'clear') return null;
  const session_id = continuedIn(event, surroundings.readTail);
  const next = session_id === null ? undefined : await tx.sessions.get(session_id);
  if (session_id === null || next === undefined) return session_id;
  const isNew = Date.parse(tx.now) - Date.parse(next.started_at) < HANDOVER_MS;
  const isFree = next.state !== 'ended' && next.continues === null && next.source !== 'main';
  const isAlike = next.machine === session.machine && next.client === session.client;
  return isNew && isFree && isAlike ? session_id : null;
}

/** Passes what is open in an ended session on to the one that continues it, which may still have to report its start. */
async function goOnInBackground(
  tx: WriteTx,
  before: Session,
  session_id: string,
  { env }: HookSurroundings,
): Promise<void> {
  const name = env['HIVE_AGENT'];
  const known = await tx.sessions.get(session_id);
  if (known !== undefined) {
    // While the other one lived, it could have neither its name nor its title, and it may have become its child.
    const { name: given, title, parent_session_id } = before;
    const next = inherited(before, { ...known, name: given, title, parent_session_id }, null);
    await takeOver(tx, before, await recordSession(tx, 'session/changed', await renamed(tx, next, name)));
    return;
  }
  // Without a process, any process may speak for it, as for the session that has ended.
  const unbound = { pid: null, shell_pid: null, client_title: null };
  const introduction = { ...before, ...unbound, session_id, source: 'bg', name } as const;
  const next = inherited(before, await newSession(tx, introduction, before), null);
  await takeOver(tx, before, await recordSession(tx, 'session/started', next));
}

/**
 * The session that this event continues under a new id. /clear begins a new session in the same client process, and so may a
 * compaction or another new id. A session without a reported start counts too, if the human writes in it while the other one is
 * idle. A startup, a resume or a fork in the terminal opens another conversation and continues nothing. After /bg, the end of the
 * first session says which one continues it.
 */
async function predecessor(
  tx: WriteTx,
  { event, surroundings: { machine }, processes }: ReportedHook,
): Promise<Session | undefined> {
  if (event.pid === null) return undefined;
  const isStart = event.name === 'SessionStart';
  if (isStart ? BEGINS.has(event.reason) : event.name !== 'UserPromptSubmit' || event.agent_id !== null)
    return undefined;
  const before = await tx.sessions.lastHookedOfProcess(machine, event.pid);
  if (before === undefined || !(isStart || before.state === 'idle')) return undefined;
  return (await isReused(tx, before, processes)) ? undefined : before;
}

async function subagent(
  tx: WriteTx,
  { event, waited }: ReportedHook,
  agent_id: string,
  root: Session,
): Promise<Session> {
  const session_id = subagentId(event.session_id, agent_id);
  const known = await tx.sessions.get(session_id);
  if (known !== undefined && known.machine !== root.machine)
    throw new HiveError('not_allowed', `The session ${session_id} does not belong to ${root.machine}.`);
  const type = event.raw['agent_type'];
  const client_title = typeof type === 'string' ? cleanOptional(type) : null;
  if (known !== undefined) {
    if (known.state === 'ended' && waited !== null) return ownerOf(tx, waited, known);
    // Its last step may be all that is reported of a subagent that was continued.
    const isBack = known.state === 'ended' && root.state !== 'ended' && !ENDINGS.has(event.name);
    const open = isBack ? await reopenSession(tx, known) : known;
    return client_title === null ? open : retitle(tx, open, { client_title });
  }
  // /compact fires a SubagentStop without a start: there is no such subagent. No other end begins one either.
  if (event.name === 'SubagentStop' || event.name === 'Interrupt' || root.state === 'ended') return root;
  return startSubagent(tx, agent_id, root, client_title);
}

/** After /clear, the dialog for which a subagent's hook waits belongs to the session under which that subagent goes on. */
async function ownerOf(tx: WriteTx, { ask_ids: [ask_id = ''] }: Waited, ended: Session): Promise<Session> {
  const prompt = await tx.prompts.get(ask_id);
  return (prompt && (await tx.sessions.get(prompt.session_id))) ?? ended;
}

/** The subagents in the background of the session that was left in the terminal for `root`. */
async function goOnAfterResume(
  tx: WriteTx,
  { event: { name, reason, pid }, surroundings: { machine }, processes }: ReportedHook,
  root: Session,
): Promise<void> {
  if (name !== 'SessionStart' || reason !== 'resume' || pid === null) return;
  const left = await tx.sessions.lastHookedOfProcess(machine, pid);
  if (left === undefined || left.session_id === root.session_id) return;
  if (!(await isReused(tx, left, processes))) await goOnBelow(tx, left, root);
}

/** These subagents are reported under the id of the next session, `root`, and not again as started. */
async function goOnBelow(tx: WriteTx, { session_id }: Session, root: Session): Promise<void> {
  for (const child of await tx.sessions.childrenOf(session_id)) {
    if (hostOf(child) !== session_id || child.source !== 'bg') continue;
    const agent_id = child.session_id.slice(subagentId(session_id, '').length);
    // It has been there before if its person resumes one session after the other.
    const known = await tx.sessions.get(subagentId(root.session_id, agent_id));
    const next = known
      ? await reopenSession(tx, known)
      : await startSubagent(tx, agent_id, { ...root, source: 'bg' }, child.client_title, child);
    await takeOver(tx, child, next);
    // It still owes a report of what it has sent.
    for (const sent of await tx.outreach.unreported(child.session_id))
      await tx.outreach.update({ ...sent, session_id: next.session_id, agent: next.handle });
    await endSession(tx, child, { goes_on: true });
  }
}

/**
 * Marks a subagent as started in the background, which its own hooks do not report. The client reports it before the subagent's
 * first hook (recorded), so the subagent may not be known yet.
 */
async function becomeBackground(tx: WriteTx, agent_id: string, root: Session): Promise<void> {
  const known = await tx.sessions.get(subagentId(root.session_id, agent_id));
  if (known?.source === 'bg' || known?.source_fixed === true) return;
  if (known === undefined) await startSubagent(tx, agent_id, { ...root, source: 'bg' });
  else await recordSession(tx, 'session/changed', { ...known, source: 'bg' });
}

/** A subagent that its person or its parent stops reports nothing. Its parent's next Stop no longer lists it. */
async function endStoppedSubagents(tx: WriteTx, running: readonly string[], root: Session): Promise<void> {
  const ids = running.map((agent_id) => subagentId(root.session_id, agent_id));
  for (const child of await tx.sessions.childrenOf(root.session_id)) {
    if (hostOf(child) === root.session_id && !ids.includes(child.session_id)) await endSession(tx, child);
  }
}

/**
 * Ends turns of a Codex that no hook reports as over: of a review, whose session goes on and then gets the answers to what it has
 * asked; of its session, if the review has replaced that turn.
 */
async function endFound(tx: WriteTx, { event, surroundings }: ReportedHook, root: Session): Promise<void> {
  for (const session of [root, ...(await tx.sessions.childrenOf(root.session_id))]) {
    if (session.session_id === sessionOf(event)) continue;
    const turn = await tx.turns.current(session.session_id);
    const end = turn === undefined ? null : await endFromTranscript(tx, turn, surroundings.readTail);
    if (turn !== undefined && end !== null) await recordFoundEnd(tx, turn, end);
  }
}

async function startSubagent(
  tx: WriteTx,
  agent_id: string,
  root: Session,
  client_title: string | null = null,
  before?: Session,
): Promise<Session> {
  const introduction = {
    ...root,
    session_id: subagentId(root.session_id, agent_id),
    parent_session_id: root.session_id,
    pid: null,
    shell_pid: null,
    name: null,
    client_title,
  };
  return recordSession(tx, 'session/started', await newSession(tx, introduction, before));
}

/** The last handler: ends the session with its client, or a subagent with its turn. */
export const recordSessionState: HookHandler = async ({ tx, event, session, surroundings, verdict }) => {
  if (session.state === 'ended' || !endsSession(event.name, verdict.block !== null, session)) return null;
  const next = await nextInBackground(tx, event, session, surroundings);
  // The next session takes over unread deliveries.
  const cleared = event.reason === 'clear';
  const is_left = cleared || event.reason === 'resume';
  const ended = await endSession(tx, session, { goes_on: cleared || next !== null, is_left });
  if (next !== null) await goOnInBackground(tx, ended, next, surroundings);
  return null;
};

function endsSession(name: string, blocked: boolean, { parent_session_id }: Session): boolean {
  return name === 'SessionEnd' || (name === 'SubagentStop' && !blocked && parent_session_id !== null);
}
