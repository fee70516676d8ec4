/** The documents that Hive was specified from, in the order of docs/internals/specification.md. */
export interface SourceDocument {
  /** The first half of a requirement's number. */
  id: string;
  title: string;
  /** Its subject, for the page. */
  about: string;
  /** How many requirements it has: numbered from 1, none left out. */
  requirements: number;
}

export const DOCUMENTS: readonly SourceDocument[] = [
  {
    id: '000',
    title: 'Mention-Driven Task Interruption',
    about: 'An agent that another one mentions deals with the mention before it goes on.',
    requirements: 43,
  },
  {
    id: '001',
    title: 'ADR-003: Non-Blocking Prompt Forwarding',
    about: 'Agents ask without waiting, the human answers in Emacs, and the answer finds its way back.',
    requirements: 52,
  },
  {
    id: '002',
    title: 'Interrupts: TurnAborted and its reason',
    about:
      'A list of dos and don’ts: an interrupt ends a turn with a reason, and is answered once the turn is over.',
    requirements: 24,
  },
  {
    id: '003',
    title: 'Source Indicators + Bg Fork Stop Guard',
    about:
      'What main, background and fork sessions may send unasked, and the report that a background session owes.',
    requirements: 33,
  },
  {
    id: '004',
    title: 'ADR 008: Buffer Change Detection for Multi-Agent Coordination',
    about:
      'In Japanese: a shared buffer in which several agents write, mention each other and are notified of it.',
    requirements: 47,
  },
  {
    id: 'card',
    title: 'The design card',
    about: 'The one-paragraph summary: the parts, what they are built with and how they talk.',
    requirements: 8,
  },
];

/** The names in these documents, and what they are called here. */
export const NAMES: readonly (readonly [there: string, here: string])[] = [
  ['`nvim_has_unprocessed_mentions`', '`hivemind_has_unprocessed_mentions`'],
  ['`nvim_get_unprocessed_mentions`', '`hivemind_get_unprocessed_mentions`'],
  [
    '`mark_processed`, `mark_all_processed`',
    '`hivemind_process_mentions` with `mention_ids` or `all`; `hive mentions process`; `mention/process`',
  ],
  ['`get_summary`, `get_history`', '`hive mentions --json`, `hive mentions --status any`; `mention/list`'],
  ['`clear_history`', '`hive store prune --days 0 --mentions`'],
  [
    '`/check-mentions`, `/post`',
    '`/hive:check-mentions`, `/hive:post`; `M-x hive-check-mentions`, `M-x hive-post`',
  ],
  [
    '`/enable-shared`',
    'sharing is on by default; change it with `hive sessions set SESSION shared=off`, `e` in `M-x hive`, `session/configure`',
  ],
  ['`claude_id`, `from_claude_id`', 'a handle: `you`, `from`, in Emacs and the command line `from_handle`'],
  ['`timestamp`, `content`', '`at`, `body`'],
  ['`processed: false`', '`status: "unprocessed"`'],
  [
    '`:VibingShared`, `:VibingListSessions`, `:VibingMention`',
    '`M-x hive-shared`, `M-x hive-sessions`, `M-x hive-mention`',
  ],
  ['`SharedMessage.mentions`', '`mentioned`'],
  ['`.vibing-shared`', 'a buffer in Emacs; `hive messages --format shared` prints it as a file'],
  [
    '`ask-id`, `agent-id`, `timeout-ms`',
    '`ask_id`, `agent`, `timeout_ms`; arguments are accepted in every spelling',
  ],
  ['`:by "human"`', "`by` (the person's name) and `via` (through what)"],
  ['`{:timeout true}`', '`timed_out: true`'],
  ['`emit-prompt!`, `poll-prompt`, `list-pending`', '`hivemind_ask_async`, `hivemind_poll`, `prompt/list`'],
  ['`callback-fn`', '`onResponse` of the library; hooks for agents'],
  ['`hive-mcp-hivemind-respond`', '`M-x hive-respond`'],
  ['`TurnAborted {reason}`, `turn_aborted`', '`turn/changed` with `state: "aborted"` and `abort_reason`'],
  ['`InterruptConversationResponse {abortReason}`', 'the reply to `turn/interrupt`, with `abort_reason`'],
  ['`Op::Interrupt`', '`turn/interrupt`, `hivemind_interrupt`, `hive interrupt`, `M-x hive-interrupt`'],
  ['`ping_user`', '`hivemind_ping_user`'],
  ['`discord_embed`, its `buttons`', '`hivemind_send_card`, its `actions` (`buttons` is accepted too)'],
  ['`report_updates`', '`hivemind_report_updates`'],
];
