/**
 * Every sentence that a command says to a person: errors, confirmations, notices, questions and column headings, by
 * command. The help of an option stays with its command, and `bin/hive` keeps its own two sentences, because it must run
 * on a Node that cannot load this file. One constant per command, so that a bundle holds only those it uses.
 *
 * A sentence ends with a period, except behind a command, an option or a value that a person may copy.
 */
import type { Check, CheckState } from '../application/world.ts';

// ---- Who may act ----

/** Actions of a human alone, as they follow "Only a human may". */
export const ACTION = {
  answer: 'answer',
  cancel: "cancel another session's question",
  interrupt: 'interrupt other agents',
  mentions: "read or process another session's mentions",
  loops: 'decide whether two agents may continue',
  sessions: "change a session's settings",
  settings: 'change settings',
  teams: 'change teams',
  tokens: 'read or change tokens',
  phones: 'pair, list or revoke phones',
  runs: 'start or stop runs',
  prune: 'remove old records',
  restore: 'restore a backup',
  coordinator: 'make an agent a coordinator',
  post: 'post as the human',
  desk: 'open a desk',
  serve: 'accept connections from other machines',
} as const;

export type Action = (typeof ACTION)[keyof typeof ACTION];

/** An actor whose name is not recorded. */
const SOMEBODY = 'somebody';

export const ACTOR = {
  noAgent: '--as-agent is for an agent, and no agent is running this command. Leave it out.',
  onlyHuman: (action: Action, because: string): string =>
    `Only a human may ${action}. This process belongs to an agent (${because}).`,
  onlyHumanUnlessDeclared: (action: Action, because: string): string =>
    action === ACTION.answer || action === ACTION.interrupt
      ? `${ACTOR.onlyHuman(action, because)} An agent that its human lets be a coordinator does it with its tools of Hive.`
      : `${ACTOR.onlyHuman(action, because)} To act in its own name, the agent adds --as-agent.`,
  variable: (name: string): string => `${name} is set`,
  hidden: (name: string): string => `${name} is set in a process that started this one`,
  above: (handle: string): string => `it runs under ${handle}`,
} as const;

// ---- Asking and answering ----

export const ASK = {
  existing: (state: string): string => `You asked this before. It is ${state}.`,
  nobodyOnline: (to: string | null): string =>
    `${to === null ? 'No desk is online' : `No desk of "${to}" is online`}; the question is stored and stays pending.`,
  stillPending: (ask_id: string): string =>
    `${ask_id} has no answer yet. Check again with: hive poll ${ask_id}`,
  settled: (ask_id: string, state: string): string => `${ask_id} is ${state}.`,
  noted: (ask_id: string): string => `Added to ${ask_id}.`,
  notNoted: (ask_id: string, state: string): string => `Not added: ${ask_id} is ${state}.`,
  unreadable: (file: string, why: string): string =>
    `The context file ${file} cannot be read: ${why}. Nothing was asked.`,
} as const;

export const POLL = {
  needsWait: '--all and --timeout need --wait, for example: hive poll --wait --all',
  noneOpen: 'You have no pending questions and no unread answers.',
  nothingToWaitFor: 'You have no pending questions and no unread answers, so there is nothing to wait for.',
  timeIsUp: (pending: number): string =>
    `The time is up. ${counted(pending, 'question')} ${pending === 1 ? 'is' : 'are'} still pending.`,
  moreSettled: (count: number): string =>
    `${count} more ${count === 1 ? 'is' : 'are'} settled. Run hive poll again to see them.`,
  morePending: (count: number): string =>
    `${count} more ${count === 1 ? 'is' : 'are'} pending. hive list shows all of them, hive poll ID shows one.`,
} as const;

export const RESPOND = {
  noAnswer: (ask_id: string): string =>
    `Give the answer: hive respond ${ask_id} DECISION, or --select LABEL.`,
  nameIt:
    'Name the question: hive respond ID DECISION. Only at a terminal, where you see the question before you confirm, the most urgent one is taken.',
  noneWaiting: 'No question is waiting for an answer.',
  several: (prefix: string, ids: readonly string[]): string =>
    `Several questions begin with ${prefix}: ${ids.join(', ')}. Give one more letter.`,
  twoAnswers: 'Give a decision or --select, not both. (Put --select last: it takes every word after it.)',
  answered: (ask_id: string, mark: string, decision: string | undefined): string =>
    `Answered ${ask_id}${mark}: ${decision}`,
  late: (ask_id: string, status: string): string =>
    `Kept as a late answer: ${ask_id} had already ${status === 'expired' ? 'expired' : 'been cancelled'}.`,
  notAccepted: (ask_id: string, by: string | undefined, mark: string, decision: string | undefined): string =>
    `Not accepted: ${by ?? SOMEBODY} had already answered ${ask_id}${mark}: ${decision}`,
  amended: (ask_id: string, mark: string, decision: string | undefined): string =>
    `Corrected ${ask_id}${mark}: ${decision}`,
} as const;

export const CONFIRM = {
  onlyEmacsAllows: (path: string): string =>
    `You can grant a permission only in Emacs; here you can only deny it. To grant permissions at a terminal too, set "terminal_may_allow": true in ${path}.`,
  permissionNeedsTerminal:
    'A permission must be confirmed at a terminal, and there is none here. Run the command in a terminal, or answer in Emacs.',
  needsTerminal: (path: string): string =>
    `An answer must be confirmed at a terminal, and there is none here. Run the command in a terminal, or answer in Emacs. To let your scripts answer questions, set "allow_scripts_to_answer": true in ${path}.`,
  asks: (kind: string, agent: string, project: string): string =>
    `${agent} (${project}) asks${kind === 'permission' ? ' for permission' : ''}:`,
  options: (labels: string): string => `Options: ${labels}`,
  ended: 'Its session has ended.',
  late: (state: string): string => `It is ${state}. Your answer is kept as a late one.`,
  more: '-- Press Enter for more --',
  answer: 'Your answer: ',
  confirm: (decision: string): string => `Answer "${decision}"? Type yes to confirm: `,
  notConfirmed: (ask_id: string): string => `Not confirmed. ${ask_id} was not answered.`,
} as const;

export const CANCEL = {
  cancelled: (ask_id: string): string => `Cancelled ${ask_id}.`,
  notPending: (ask_id: string, state: string): string => `Nothing to cancel: ${ask_id} is ${state}.`,
} as const;

/** Behind an answer that no key of a person signed: a script's, an agent's, a library's, one that was typed at a terminal. */
export const UNATTESTED = ' (unattested)';

/** The state of a prompt, as it follows "ask-… is". */
export const STATE = {
  answered: (by: string | null, amended: boolean): string =>
    `answered by ${by ?? SOMEBODY}${amended ? ', corrected' : ''}`,
  expired: 'expired, with no answer',
  cancelled: (by: string | null): string => (by === null ? 'cancelled' : `cancelled by ${by}`),
  answeredLate: (by: string): string => `; ${by} answered late`,
  pending: (age: string): string => `pending for ${age}`,
  ended: ', its session has ended',
  addressee: (to: string, escalated: boolean): string =>
    `, addressed to ${to}${escalated ? ', now to everybody' : ''}`,
  claimed: (by: string): string => `, ${by} is answering`,
} as const;

// ---- Lists ----

export const LIST = {
  /** Before the question, because the end of a long row is cut. */
  notes: (count: number) => `[${count} note${count === 1 ? '' : 's'}] `,
  columns: ['ASK', 'STATUS', 'AGE', 'URGENCY', 'FOR', 'AGENT', 'PROJECT', 'QUESTION'],
  late: (status: string, attested: boolean): string => `${status}, late${attested ? '' : ', unattested'}`,
  unattested: (status: string): string => `${status}, unattested`,
  claimed: (by: string): string => ` (${by} is answering)`,
  /** Nobody waits for the answer any more. */
  ended: 'pending, ended',
  permission: (urgency: string): string => `${urgency}, permission`,
  /** The questions that `hive list --status` lists, as they follow "There are no". */
  questions: {
    pending: 'pending questions',
    waiting: 'questions waiting for an answer',
    responded: 'answered questions',
    late: 'questions with a late answer',
    expired: 'expired questions',
    cancelled: 'cancelled questions',
  } as Readonly<Record<string, string>>,
  nothing: (status: string, filters: string): string => {
    const which = LIST.questions[status] ?? 'questions';
    return `There are no ${which}${filters === '' ? '' : ` with${filters}`}.`;
  },
  more: (limit: number, cursor: string): string =>
    `There are more. To see them, add --limit ${limit * 2} or --cursor ${cursor}`,
  notPositive: 'It must be a whole number, 1 or more.',
} as const;

export const PROMPT_ROWS = {
  note: (age: string) => `note, ${age} ago`,
  warning: 'warning',
  question: 'question',
  options: 'options',
  expires: 'expires',
  decision: 'decision',
  comment: 'comment',
} as const;

export const HISTORY = {
  nothing: 'Nothing in the history matches.',
  answered: (by: string | null, mark: string): string => `${by ?? SOMEBODY} answered${mark}:`,
} as const;

export const LOG = {
  prunedWhileFollowing: 'Some events are missing here: retention removed them before they could be shown.',
  pruned: (seq: number): string => `Retention has removed the events up to ${seq}; the rest follows.`,
  notSequence: 'It must be a whole number, 0 or more.',
} as const;

export const OUTREACH = {
  nothing: (kind: 'ping' | 'card' | 'report' | undefined): string =>
    `There are no ${kind === undefined ? 'pings, cards or reports' : `${kind}s`}.`,
  answerWith: (buttons: string, ask_id: string): string =>
    `${buttons} Answer with: hive respond ${ask_id} LABEL`,
} as const;

export const STATUS = {
  pending: (total: number, detail: string): string => `${total} pending${total === 0 ? '' : ` (${detail})`}`,
  unseen: (count: number): string =>
    `${counted(count, 'unseen message')} from agents; run hive outreach to read ${count === 1 ? 'it' : 'them'}`,
  online: (sessions: number, desks: number): string =>
    `${counted(sessions, 'session')}, ${counted(desks, 'desk')} online`,
  seen: (age: string): string => `seen ${age} ago`,
  open: (age: string): string => `open for ${age}`,
  session: 'session',
  desk: 'desk',
  human: 'human',
  team: 'team',
  focused: 'focused',
  away: 'away',
} as const;

/** One or more names as a part of a sentence. */
function listed(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

// ---- The shared buffer ----

const EXAMPLE_BLOCK =
  'A block is a heading such as "## 2026-01-11 18:00:00 Claude-abc12" with the message below it';

export const POST = {
  noHeading: `The text does not begin with a heading. ${EXAMPLE_BLOCK}. Nothing was posted.`,
  noBlock: `The text contains no block. ${EXAMPLE_BLOCK}. Nothing was posted.`,
  emptyBlock: (stamp: string, handle: string): string =>
    `There is no message below the heading "## ${stamp} ${handle}". Nothing was posted.`,
  foreignHeading: (writer: string, handle: string): string =>
    `This shell belongs to ${writer}, so it cannot post as ${handle}. Nothing was posted. Leave out --as-agent to post it as unverified.`,
  mentioned: (handles: string): string => `Mentioned: ${handles}.`,
  notHeld: (handles: string): string =>
    `Mentioned but not held, because the conversation looks like a loop: ${handles}.`,
  postedBefore: (message_id: string): string => `${message_id} was posted before and was not posted again.`,
  unverified: (author: string, where: string): string =>
    `Posted as ${author}. The name is unverified, because it was posted from ${where}.`,
  shellOf: (handle: string): string => `${handle}'s shell`,
  terminal: "a person's terminal",
} as const;

export const MESSAGES = {
  nothing: (isEverywhere: boolean): string =>
    isEverywhere
      ? 'No messages were found.'
      : 'No messages were found in this project. To see those of every project, add --all',
  newer: (cursor: string | null): string => `There are more. To see them, add --after ${cursor}`,
  older: (cursor: string | null): string => `There are older ones. To see them, add --before ${cursor}`,
  as: (handle: string): string => `as ${handle}`,
  urgent: 'urgent',
  thread: (name: string): string => `in ${name}`,
} as const;

export const MENTIONS = {
  noAction: (action: string): string =>
    `There is no "hive mentions ${action}". Use list, process, allow, mute or loops.`,
  nothing: (handle: string, status: string): string =>
    `There are no ${status === 'any' ? '' : `${status} `}mentions of ${handle}.`,
  howToProcess: 'Mark them processed with: hive mentions process ID…, or: hive mentions process --all',
  moreUnprocessed: (count: number, limit: number): string =>
    `There ${count === 1 ? 'is' : 'are'} ${count} more. To see ${count === 1 ? 'it' : 'them'}, add --limit ${limit * 2}`,
  more: (cursor: string): string => `There are more. To see them, add --cursor ${cursor}`,
  urgent: 'urgent',
  expectsReply: 'expects a reply',
  processed: (by: string | null, note: string | null): string =>
    `processed by ${by ?? SOMEBODY}${note === null ? '' : `: ${note}`}`,
  expired: 'expired',
  thread: (name: string): string => `in ${name}`,
  done: (count: number, handle: string, left: number): string =>
    `Processed ${count} of ${handle}'s mentions; ${left} left.`,
  noLoops: 'There are no loops and no muted pairs.',
  loop: (pair: string, state: string, reason: string): string => `${pair}: ${state} (${reason})`,
  loopActions: ([a, b]: readonly [string, string]): string =>
    `Let them continue: hive mentions allow ${a} ${b}\n  Mute this pair: hive mentions mute ${a} ${b}\n  Write to them: hive post "@${a} @${b} …"`,
  mutedActions: ([a, b]: readonly [string, string]): string =>
    `Let them mention each other again: hive mentions allow ${a} ${b}`,
  nameTwo: (action: string): string =>
    `Name two sessions, for example: hive mentions ${action} Claude-abc12 Claude-def34`,
  allowed: (pair: string): string => `${pair} may continue.`,
  muted: (pair: string): string => `${pair} are muted: neither is notified when the other mentions it.`,
} as const;

export const SESSIONS = {
  columns: ['TITLE', 'HANDLE', 'STATE', 'SEEN', 'SOURCE', 'MENTIONS', 'ROLES', 'CLIENT', 'PROJECT', 'DOING'],
  nobody: 'No sessions are online.',
  coordinator: (ask_id: string): string => `coordinator (${ask_id})`,
  waits: (since: string, question: string): string => `blocked for ${since}: ${question}`,
  runs: (tool: string, since: string): string => `runs ${tool}, ${since}`,
  works: (since: string): string => `works, ${since}`,
  noSetting: (name: string, near: string | undefined, names: string): string =>
    `There is no setting "${name}".${near === undefined ? '' : ` Did you mean ${near}?`} The settings are ${names}. Nothing was changed.`,
  badValue: (word: string, name: string, values: string): string =>
    `"${word}" is not valid. Write ${name}=${values}. Nothing was changed.`,
  nothingToSet: (names: string): string => `Name a setting: ${names}. Nothing was changed.`,
  nameOne: (settings: string): string =>
    `Name a session, for example: hive sessions set Claude-abc12 ${settings}`,
  set: (session: string, settings: string): string => `Set for ${session}: ${settings}`,
} as const;

export const INTERRUPT = {
  oneOrAll: 'Name one agent, or use --all. Nobody was interrupted.',
  cancelNeedsAgent:
    '--all does not go with --cancel. Nobody was interrupted. To withdraw an interrupt, name its agent: hive interrupt AGENT --cancel',
  turnNeedsAgent:
    '--turn names a turn of one agent, so it does not go with --all. Leave one of them out. Nobody was interrupted.',
  withdrawn: (handle: string): string => `Interrupt withdrawn. ${handle} continues.`,
  noneOpen: (handle: string): string => `There is no pending interrupt for ${handle}.`,
  waiting: (handle: string): string => `Asked ${handle} to stop. Waiting for its turn to end.`,
  outcome: (handle: string, sentence: string): string => `${handle}: ${sentence}`,
  nobodyBusy: 'No agent is running.',
} as const;

// ---- Humans and settings ----

export const CONFIG = {
  columns: ['KEY', 'VALUE', 'ORIGIN', 'DESCRIPTION'],
  others: (count: number): string => `hive config --all shows ${count} more.`,
  unsetNeedsKey: '--unset needs the KEY of a setting.',
  valueOrUnset: 'Give a VALUE or --unset, not both.',
  unknown: (key: string): string => `There is no setting "${key}". hive config lists them.`,
  origins: {
    default: 'default',
    stored: 'stored',
    emacs: 'Emacs',
    inherited: 'seat',
  },
  described: (text: string, origin: string): string => `${text}. ${origin}`,
  isDefault: 'This is the default.',
  byPairing: 'The phone has it from the seat at which it was paired.',
  notOfPhones: (key: string): string =>
    `A phone has no ${key} of its own. hive config --phone PHONE lists what it may have.`,
  byEmacs: (fallback: string): string => `Set in Emacs; the default is ${fallback}.`,
  byConfig: (fallback: string): string => `Set with hive config; the default is ${fallback}.`,
  set: (key: string, value: string): string => `${key}: ${value}`,
  emacsSetsAgain: (option: string): string =>
    `Emacs set this. If it is in the option ${option} there, Emacs sets it again when it next connects.`,
} as const;

export const TEAM = {
  none: 'There are no teams. Make one with: hive team set NAME MEMBER…',
  escalation: (after: string): string => `escalates to everybody after ${after}`,
  set: (name: string, members: string, escalation: string): string =>
    `${name}: ${members}${escalation === '' ? '' : `, ${escalation}`}`,
  removed: (name: string): string => `Removed ${name}.`,
} as const;

// ---- Rules ----

export const RULES = {
  none: (path: string): string =>
    `There are no rules in ${path}. In Emacs, press A at a permission to make one; docs/agents.md says how to write one.`,
  columns: ['', 'RULE', 'PROJECT', 'USED', 'LAST', 'ENDS', 'WHERE'],
  never: 'never',
  ended: 'ended',
  proposals: (count: number): string =>
    `${count === 1 ? 'One rule is' : `${count} rules are`} proposed: see M-x hive-rules in Emacs.`,
} as const;

// ---- The statistics ----

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

export const STATS = {
  summary: (since: string, asked: number, answered: number): string =>
    `Since ${since}: ${plural(asked, 'question')}, ${answered} answered in time.`,
  rest: ({
    late,
    expired,
    cancelled,
    pending,
  }: Readonly<Record<'late' | 'expired' | 'cancelled' | 'pending', number>>): string =>
    [
      late > 0 ? `${late} answered late` : '',
      expired > 0 ? `${expired} expired` : '',
      cancelled > 0 ? `${cancelled} cancelled` : '',
      pending > 0 ? `${pending} pending` : '',
    ]
      .filter((part) => part !== '')
      .join(', '),
  perDay: (last: number | null): string =>
    last === null ? 'QUESTIONS PER DAY' : `QUESTIONS PER DAY, THE LAST ${last}`,
  onDay: (asked: number, byRules: number): string =>
    byRules === 0 ? `${asked}` : `${asked} + ${byRules} by rules`,
  waited: 'HOW LONG THEY WAITED',
  columns: ['', 'ASKED', 'MEDIAN', 'WORST', 'BLOCKED', ''],
  all: 'all',
  byKind: 'by kind',
  byProject: 'by project',
  byAgent: 'by agent',
  where: 'ANSWERED IN',
  via: {
    emacs: 'Emacs',
    notification: 'a popup',
    terminal: "the agent's terminal",
    cli: 'a shell',
    rule: 'a rule',
    mcp: 'another agent',
    hook: 'a hook',
    library: 'a program',
  } as Readonly<Record<string, string>>,
  mostAsked: 'ASKED MOST',
  rules: 'ANSWERED BY RULES',
  saved: (time: string): string =>
    `  About ${time} of waiting saved (estimated from the median for permissions).`,
} as const;

// ---- Runs ----

export const RUN = {
  none: 'There are no active or sleeping runs. Start one with: hive run -- claude -p "…"',
  watching: 'Resuming runs as their questions are answered. Press Ctrl-C to stop.',
  watchTakesNone: '--watch does not start a new agent: leave the command out.',
  badJobs: (given: string): string => `--jobs is "${given}". It must be a whole number, 1 or more.`,
  noVariable: (name: string): string =>
    `--keep-env names ${name}, which is not set here. Set it, or leave it out of --keep-env.`,
  tooPatient: (given: string): string =>
    `--patience is ${given}: give 9m or less, because no client lets a hook wait longer. A question stays pending as long as needed, even after the agent has ended.`,
  problem: (run_id: string, problem: string): string => `${run_id} has ended: ${problem}`,
  sleeps: (run_id: string, asks: string): string =>
    asks === ''
      ? `The agent of ${run_id} died. It is restarted by a sidecar, hive serve or hive run --watch. Start one if none is running.`
      : `${run_id} sleeps until you answer ${asks}. Then a sidecar, hive serve or hive run --watch resumes it. Start one if none is running.`,
  status: ({
    status,
    exit_code,
    problem,
  }: {
    status: string;
    exit_code: number | null;
    problem: string | null;
  }): string =>
    status !== 'ended'
      ? status
      : (problem ?? (exit_code === null ? 'ended' : `ended with exit code ${exit_code}`)),
} as const;

// ---- Remote agents ----

export const SERVE = {
  firstToken: (file: string): string =>
    `Made the first token and wrote it to ${file}. hive token show prints it.`,
  serving: (url: string): string => `Serving MCP at ${url}`,
  inbox: (url: string): string => `Serving the inbox at ${url}. Pair a phone with: hive phone add`,
  notRecorded: (why: string): string =>
    `hive phone and M-x hive-phone will not know where this inbox is (${why}). Give it to them with --url.`,
  noInbox: (folder: string): string =>
    `There is no page of the inbox in ${folder}. In a clone, run: npm run build`,
  badPort: (option: string, text: string): string =>
    `${option} ${text} is not a port. Give a number from 0 to 65535.`,
  plainHttp: (host: string): string =>
    `Over plain HTTP, anybody on the network between here and ${host} can read the tokens. Use --cert and --key, listen on 127.0.0.1 behind a proxy with TLS, or add --insecure.`,
  plainInbox: (host: string): string =>
    `Over plain HTTP a phone cannot use the inbox at ${host}: its browser makes no keys there. Use --cert and --key, or listen on 127.0.0.1 behind a proxy with TLS.`,
  sidecarPlainHttp: (host: string): string =>
    `over plain HTTP, anybody on the network between here and ${host} can read the tokens. Run hive serve with --cert and --key instead.`,
  tlsNeedsBoth: 'TLS needs both --cert and --key.',
  cannotListen: (host: string, port: number, code: string | undefined): string =>
    `Cannot listen on ${host}:${port} (${code}). Choose another port or host.`,
} as const;

export const SIDECAR = {
  startYourself: 'Quit this Emacs and start it yourself, outside any agent.',
  serving: 'Serving agents on other machines.',
  notServing: (why: string): string => `This Emacs does not serve agents on other machines: ${why}`,
  noticeFailed: 'A notice for the human could not be stored.',
  attachEnded: 'hive attach has ended and is started again.',
} as const;

export const TOKEN = {
  nobody: 'There are no tokens. hive serve makes one when it starts, or make one with: hive token make NAME',
  empty: (file: string): string =>
    `The token file ${file} is empty. Make a new secret with: hive token rotate default`,
  none: (file: string): string =>
    `There is no token in ${file}. hive serve makes one when it starts, or make one with: hive token make default`,
  revoked: (name: string, at: string): string => `Revoked ${name} at ${at}. It no longer gives access.`,
  revokedAt: (at: string): string => `revoked ${at}`,
} as const;

export const PHONE = {
  needsTerminal:
    'Pairing a phone must be confirmed at a terminal, and there is none here. Run the command in a terminal, or use M-x hive-phone in Emacs.',
  scan: (address: string, code: string): string =>
    `Open this with the phone's camera, or type the address there:\n  ${address}\nThe code is ${code}; it can be used once, within 10 minutes. Waiting for the phone…`,
  nobodyCame: 'No phone has used the code, which no longer counts. Try again with: hive phone add',
  compare: (name: string, phrase: string): string =>
    `${name} has used the code. The phone shows four words; here they are:\n\n    ${phrase}\n`,
  confirm: 'Does your phone show the same four words? Type yes to let it in; anything else refuses it: ',
  refused: (name: string): string => `Not confirmed: ${name} was refused.`,
  paired: (name: string): string =>
    `Paired ${name}. It can answer questions. To let it allow permissions, too: hive phone allow, or M-x hive-phone-list in Emacs`,
  revoked: (name: string): string => `Revoked ${name}. It has no access any more.`,
  none: 'No phone is paired. Pair one with: hive phone add',
  columns: ['PHONE', 'NAME', 'OF', 'STATE', 'SEEN', 'MAY', 'NOTIFICATIONS'],
  state: (state: 'unconfirmed' | 'confirmed' | 'revoked', revoked_at: string): string =>
    ({ unconfirmed: 'not confirmed', confirmed: 'paired', revoked: `revoked ${revoked_at}` })[state],
  ago: (age: string): string => `${age} ago`,
  mayAllow: 'answer and allow',
  mayAnswer: 'answer',
  push: { on: 'on', off: 'off', failed: 'failed' },
  onlyEmacsAllows: (entry: string, path: string): string =>
    `A phone gets the right to allow permissions in Emacs, with M-x hive-phone-list. You can also add ${entry} to the list "seats" in ${path} yourself, or set "terminal_may_allow": true there to do it at a terminal.`,
  allowing: (name: string, key: string): string[] => [
    `${name} (key ${key}) will be able to allow what agents ask for, from anywhere, as you can here.`,
  ],
  confirmAllow: 'Let it? Type yes to confirm: ',
  notAllowed: (name: string): string => `Not confirmed: ${name} may still not allow anything.`,
} as const;

export const MCP = {
  badUrl: (url: string): string => `--url ${url} is not an http:// or https:// address.`,
  roleIsLocal: (role: string): string =>
    `--role does not work with --url: the token decides. Your human makes a token with: hive token make NAME --role ${role}`,
  sourceIsLocal:
    "--source does not work with --url. Set HIVE_SOURCE in the client's environment; its hooks report it.",
  plainHttp: (url: string): string =>
    `Over plain HTTP, anybody on the network between here and ${url} can read the token. Give --url an https address, use a tunnel to 127.0.0.1, or add --insecure.`,
  timeoutIsLocal: '--tool-timeout does not work with --url. Leave it out.',
  needsTokenFile: '--url needs --token-file FILE.',
  storeUnavailable: 'Hive cannot write to the store. It refuses every call until it can.',
} as const;

// ---- The doctor ----

const CHECK_MARKS: Readonly<Record<CheckState, string>> = { ok: 'ok', not_set_up: '--', broken: 'FAIL' };

export const DOCTOR = {
  check: ({ name, state, text, advice }: Check): string => {
    const line = `${CHECK_MARKS[state].padEnd(4)}  ${name.padEnd(17)} ${state === 'not_set_up' ? 'not set up: ' : ''}${text}`;
    return state === 'ok' || advice === null ? line : `${line}\n      → ${advice}`;
  },
  /** All three numbers, so that "not set up" is never read as ok. */
  summary: (checks: readonly Pick<Check, 'state'>[]): string => {
    const count = (wanted: CheckState): number => checks.filter(({ state }) => state === wanted).length;
    return `${counted(checks.length, 'check')}: ${count('ok')} ok, ${count('not_set_up')} not set up, ${count('broken')} broken.`;
  },
} as const;

// ---- Setting up ----

/** How much changes in a file. */
interface ChangeSize {
  isNew: boolean;
  isGone: boolean;
  added: number;
  removed: number;
}

const WHAT_HOOKS_DO =
  'They report the steps of each session to Hive, which can stop a step, add text to it, or answer its dialog:';

const WHAT_TOOLS_DO = 'They can only ask, post, report and look; they decide nothing.';

export const INIT = {
  tooOldForConnection: (client: string, version: string): string =>
    `${client} ${version} is too old for hooks over the connection, so each hook will start a process.`,
  done: (client: string): string =>
    `Done. New sessions of ${client} will use Hive. Check the setup with: hive doctor`,
  undone: (client: string): string => `Removed. New sessions of ${client} will not use Hive.`,
  acp: (agent_shell: string, zed: string): string =>
    `For agent-shell in Emacs, set the command of your agent, for example of Claude:

(setq agent-shell-anthropic-claude-acp-command
      '${agent_shell})

For Zed, add to its settings:

${zed}`,
  emacsBenefit: (key: string): string =>
    `The mode line of Emacs then shows when an agent asks you something, and ${key} n answers it.`,
  agentBenefit: (client: string): string =>
    `${client} can then ask you while it goes on working. Your answers, mentions and interrupts reach it by themselves, and its permission dialogs can be answered in Emacs, too.`,
  emacsDone: 'Done. Hive starts the next time you start Emacs. Check the setup there with M-x hive-doctor.',
  emacsUndone: 'Removed. Emacs no longer starts Hive.',
  projectNeedsPath:
    'The project\'s configuration runs "hive" from PATH, and it is not on yours. Everybody who works on the project needs it there.',
  ownServerRole: (config: string, role: string): string =>
    `${config} already has a server that starts Hive, and Hive does not change that. Set the role there: args = ["mcp", "--role", "${role}"].`,
  ownServer: (config: string): string =>
    `${config} already has a server that starts Hive. It was left as it is.`,
  untrusted: (why: string): string =>
    `Codex silently skips these hooks until you trust them. Run hive init codex in a terminal, or use /hooks in Codex. (Hive did not ask now: ${why}.)`,
  aboutTrust: (count: number): string =>
    `Codex skips hooks that nobody has trusted. These ${count} report each step of every session to Hive. Most start "hive hook" with your full permissions; the others use the connection to "hive mcp".`,
  askTrust: 'Trust them? [y/N] ',
  notTrusted: 'Not trusted. Codex skips the hooks until you trust them, here or with /hooks in Codex.',
  trusted: 'Trusted.',
  noTerminal: 'there is no terminal',
  changedByOther: (file: string): string => `${file} was changed by another program. Run the command again.`,
  folderGone: (folder: string): string =>
    `The folder ${folder} is gone, so there is no project here. Nothing was written.`,
  byHand: (direction: 'init' | 'uninit'): string =>
    `Nothing was written. If another program manages this file, ${direction === 'init' ? 'let it add' : 'let it remove'} what the same hive init command shows with --print.`,
  nothingWritten: 'Nothing was written.',
  nothingToDo: 'Nothing to do.',
  file: (path: string, { isNew, isGone, added, removed }: ChangeSize): string =>
    `${path} (${isNew ? `new file, ${counted(added, 'line')}` : isGone ? 'the file is removed' : `${counted(added, 'line')} added, ${removed} removed`})`,
  addsServer: (command: string): string => `Adds the MCP server "hive", which runs: ${command}`,
  changesServer: (command: string): string =>
    `Changes the entry of the MCP server "hive", which then runs: ${command}`,
  removesServer: 'Removes the MCP server "hive".',
  variables: (count: number): string =>
    `Codex passes ${count} environment variables to it, beside those that every server gets.`,
  addsHooks: (count: number): string => `Adds ${counted(count, 'hook')}. ${WHAT_HOOKS_DO}`,
  replacesHooks: (old: number, now: number): string =>
    `Replaces Hive's ${counted(old, 'hook')} with ${now}. ${WHAT_HOOKS_DO}`,
  removesHooks: (count: number): string => `Removes Hive's ${counted(count, 'hook')}, and no others.`,
  hooksOverConnection: (count: number, events: readonly string[]): string =>
    `- ${count} use the connection to the MCP server: ${events.join(', ')}`,
  hooksByProcess: (count: number, program: string, events: readonly string[]): string =>
    `- ${count} start "${program} hook": ${events.join(', ')}`,
  otherHooksStay: 'Leaves all other hooks as they are.',
  addsRules: (count: number): string =>
    `Adds ${counted(count, 'permission rule')}, so that agents use Hive's own tools without asking you. ${WHAT_TOOLS_DO}`,
  removesRules: (count: number): string => `Removes Hive's ${counted(count, 'permission rule')}.`,
  addsCommand: (command: string): string => `Adds the command ${command}.`,
  removesCommand: (command: string): string => `Removes the command ${command}.`,
  askClaude: (scope: 'user' | 'project'): string =>
    `Set this up, and let ${scope === 'user' ? 'agents' : 'the agents of everybody who works on this project'} use Hive's own tools without asking each time? [Y/n, a: set it up, but ask each time, d shows every line] `,
  toolsWillAsk:
    "Claude Code will ask you before each call of Hive's tools, and refuse the call where it cannot ask. To change that, run hive init claude again.",
  addsTrust: (count: number): string =>
    `Lets Codex run ${counted(count, 'hook')}: it skips hooks that nobody has trusted.`,
  removesTrust: (count: number): string =>
    `Removes your trust in Hive's ${counted(count, 'hook')}, because they change or go.`,
  addsLines: 'Adds these lines at the end, between two comments:',
  replacesLines: "Replaces Hive's lines with these:",
  removesLines: 'Removes these lines, and the comments around them:',
  cannotAsk:
    'Hive cannot ask for confirmation without a terminal. Use --yes to write without asking, or --show to see every line that would change.',
  askSetUp: 'Set this up? [Y/n, d shows every line] ',
  askEmacs: (key: string): string => `Set this up? [Y/n, or another key than ${key}, d shows every line] `,
  askRemove: 'Remove this? [y/N, d shows every line] ',
  notUnderstood: (answer: string): string => `"${answer}" is none of these.`,
  byPlugin: "Claude Code has Hive's plugin, which contains the server and the hooks.",
  npx: 'npx deletes this copy of Hive later, so no configuration may point to it. Run hive install through npx first; it installs Hive permanently.',
} as const;

// ---- Installing ----

export const INSTALL = {
  installing: (version: string, folder: string): string => `Installing Hive ${version} in ${folder} …`,
  installed: (command: string): string => `Installed. The command is ${command}.`,
  unchanged: (command: string): string => `This version is already installed. The command is ${command}.`,
  ownNode: (version: string, minimum: string, instead_of: string | null): string =>
    `Hive uses its own Node ${version}, because ${instead_of === null ? 'there is no node on PATH' : `${instead_of} is older than ${minimum}`}.`,
  machineNode: (version: string, path: string): string => `Hive runs on Node ${version} (${path}).`,
  steps: {
    pack: 'Packing the program',
    fetch: 'Fetching what it needs from npm',
    try: 'Trying it',
    compile: 'Compiling the Emacs package',
    check: 'Checking the setup',
  },
  notCompiled: (why: string): string =>
    `Emacs could not compile the package, so it runs uncompiled, which is slower: ${why}`,
  found: (programs: readonly string[]): string => `Found ${listed(programs)}.`,
  notFound: (names: readonly string[], folders: readonly string[], commands: readonly string[]): string =>
    `Did not find ${listed(names, 'or')}: not on PATH${folders.length === 0 ? '' : `, nor in ${listed(folders, 'or')}`}. An alias of your shell cannot be seen from here. If you have ${names.length === 1 ? 'it, run' : 'one of them, run'}: ${commands.join(', or: ')}`,
  notOnPath: (file: string, line: string): string =>
    `\nPATH: with this line in ${file}, new terminals find the command hive:\n\n${line}\n`,
  askPath: 'Write it there? [Y/n] ',
  pathWritten: (file: string): string => `${file} has the line. New terminals find the command hive.`,
  /** The last line: how to ask and answer a first question. `key` is the prefix of Hive's keys in Emacs. */
  tryIt: ({ agent, key, hive }: { agent: string | null; key: string | null; hive: string }): string => {
    const answer = key === null ? `answer it with: ${hive} respond` : `press ${key} n in Emacs to answer it`;
    const first = key === null ? 'Try it:' : 'Try it: restart Emacs,';
    return agent === null
      ? `\n${first} run ${hive} ask "Does Hive work?" --option yes in a shell, and ${answer}`
      : `\n${first} start ${agent} in a project, type "Ask me through Hive which colour I like", and ${answer}`;
  },
  other: (found: string, folder: string): string =>
    `"hive" in your shell runs another copy, ${found}, which comes first on PATH. Remove it, or put ${folder} first.`,
  part: (client: string): string => `\n${client}: looking at its files …`,
  later: (commands: readonly string[]): string =>
    `Hive cannot ask for confirmation without a terminal, so no other file was changed. Use --yes, or run later: ${commands.join('; ')}`,
  doctor: (summary: string): string => `\nhive doctor: ${summary}`,
  doctorSilent: 'hive doctor did not run. Run it yourself to see why.',
  nothingInstalled: (folder: string): string => `Hive is not installed in ${folder}.`,
  notBuilt: (folder: string): string => `${folder} is not built. Run "npm run build" there first.`,
  aboutRemoving: (things: readonly string[]): string => `This removes ${listed(things)}.`,
  lineIn: (file: string): string => `the PATH line in ${file}`,
  askRemove: 'Continue? [y/N] ',
  cannotAskRemove:
    'Hive cannot ask for confirmation without a terminal. Use --yes to remove Hive without asking. Nothing was removed.',
  stillUsed: (clients: readonly string[]): string =>
    `Hive was not removed, because it is still configured for ${clients.join(' and ')}. Run hive uninit for ${clients.length === 1 ? 'it' : 'them'}, then try again.`,
  removed: (folder: string): string => `Removed ${folder}.`,
  dataKept: (folder: string): string =>
    `Your questions and answers are kept in ${folder}. Delete that folder if you no longer want them.`,
} as const;

// ---- The store ----

export const BACKUP = {
  written: (store: string, file: string): string => `Backed up ${store} to ${file}, and checked the copy.`,
  restored: (store: string, file: string, aside: string | null): string =>
    `Restored ${store} from ${file}.${aside === null ? '' : ` What was there before is ${aside}; delete it when you no longer need it.`}`,
  noServer: 'A backup is a file. hive store migrate copies a store to a database or from one.',
} as const;

export const PRUNE = {
  yesNeedsMentions: '--yes needs --mentions. Nothing was removed.',
  mentionsNeedDays: 'Give an age in days: --mentions --days 0 removes all mentions. Nothing was removed.',
  settled: (days: number): string => `records settled more than ${days} days ago`,
  mentions: (days: number): string =>
    days === 0 ? 'mentions of any age' : `mentions more than ${days} days old`,
  cannotAsk: (what: string, count: number): string =>
    `This would remove ${what} (${count}), including unprocessed ones. Hive cannot ask for confirmation without a terminal. Use --yes to confirm, or --dry-run to only look. Nothing was removed.`,
  about: (what: string, count: number): string =>
    `This removes ${what} from this store (${count}), including unprocessed ones. The messages stay.`,
  confirm: 'Type yes to remove them: ',
  nothingRemoved: 'Nothing was removed.',
  nothing: (what: string): string => `Nothing to remove: found no ${what}.`,
  wouldRemove: (what: string): string => `This would remove ${what}:`,
  removed: (what: string): string => `Removed ${what}:`,
} as const;

export const MIGRATE = {
  samePlace: '--from and --to must name different stores.',
  copied: 'Copied and verified, row by row:',
  next: 'Set HIVE_STORE to the new address everywhere. The old store is unchanged; keep it as a backup or delete it.',
} as const;

// ---- Hooks ----

export const HOOK = {
  emptyToken: (file: string): string =>
    `The token file ${file} is empty. Make a new secret with hive token rotate NAME on the machine that runs hive serve, and write it into this file.`,
  noReply: (seconds: number): string => `no reply from the store within ${seconds} s`,
  urlNeedsAddress: '--url needs an address.',
  urlNeedsTokenFile: '--url needs --token-file FILE.',
  refused: (host: string, status: number | undefined, why: string): string =>
    `${host} refused the event (${status}): ${why}`,
  notJson: 'the reply is not JSON',
  willNotWake: (why: string): string => `idle agents will not be woken: ${why}`,
} as const;
