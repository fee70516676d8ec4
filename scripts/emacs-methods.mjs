// What docs/internals/protocol.md says about each JSON-RPC method: the zod shape of its params, or null if it has none, and
// what the method does. A test calls every method with wrong params and compares the refusals with these shapes.
import { INTERRUPT_LIMITS } from '../src/domain/interrupts.ts';
import { MESSAGE_LIMITS } from '../src/domain/messages.ts';
import { PROMPT_LIMITS } from '../src/domain/prompts.ts';
import {
  focusParams,
  initializeParams,
  noticeListParams,
  preferencesParams,
  seatRegisterParams,
} from '../src/schemas/desks.ts';
import { confirmParams, deviceParams, inviteParams, pairedParams } from '../src/schemas/devices.ts';
import {
  beginTurnParams,
  closeParams,
  endTurnParams,
  handedParams,
  introduceParams,
  openParams,
  sessionRef,
} from '../src/schemas/editors.ts';
import { historyParams } from '../src/schemas/history.ts';
import { mentionListParams, mentionProcessParams, pairParams } from '../src/schemas/mentions.ts';
import { messageListParams, postParams } from '../src/schemas/messages.ts';
import { outreachListParams } from '../src/schemas/outreach.ts';
import {
  actParams,
  amendParams,
  listParams,
  promptRef,
  responseParams,
  snoozeParams,
} from '../src/schemas/prompts.ts';
import {
  ruleAddParams,
  ruleDismissParams,
  ruleRevokeParams,
  ruleSuggestParams,
  ruleTryParams,
} from '../src/schemas/rules.ts';
import { configureParams, sessionListParams } from '../src/schemas/sessions.ts';
import { statsParams } from '../src/schemas/stats.ts';
import { cancelInterruptParams, interruptAllParams, interruptParams } from '../src/schemas/turns.ts';

/** The handshake, which belongs to no capability. */
export const HANDSHAKE = {
  initialize: [initializeParams, 'Opens the desk, once per connection. Another protocol_version is refused.'],
  shutdown: [null, 'Replies with null. The notification `exit`, or the end of stdin, then ends the sidecar.'],
};

export const METHODS = {
  'desk/focus': [focusParams, 'Says whether this Emacs has the focus, which decides who shows popups.'],
  'desk/preferences': [
    preferencesParams,
    "Changes the seat's preferences. Null restores the default; a preference that is left out keeps its value. Returns all of them. `outreach` applies to every seat. `quiet_times` in the reply are the quiet hours that are on, or the next ones.",
  ],
  'dialog/close': [
    closeParams,
    'Says that a dialog no longer waits: its editor has answered it (`answered_elsewhere`, with what was answered as `decision`), its agent has withdrawn it, or its turn was interrupted. `accepted` is false where a desk answered first, or nothing is open under this key.',
  ],
  'dialog/handed': [
    handedParams,
    'Says that Emacs has given the agent the answer of `dialog/answered`. That is the proof that it arrived.',
  ],
  'dialog/open': [
    openParams,
    'Offers a dialog of an agent at the desks, with its own options in its order, or with `form` the fields of a form. Returns its `prompts`; none where only Emacs can show it. Sent again with the same key, it is the same dialog. `answer` is there at once where a rule of the human has answered, or a desk did before Emacs connected again. With `hooked`, the hooks of the agent offer it. It falls with the connection and with the turn, and then nothing is allowed.',
  ],
  'doctor/run': [null, 'Returns what `hive doctor` finds.'],
  'history/search': [
    historyParams,
    'Returns what was asked and answered, newest first, 100 entries per page by default (`limit`). Each text is cut at 400 characters; with `full` it is complete.',
  ],
  'rule/add': [
    ruleAddParams,
    "Writes a rule into the human's own file (`trust.json`), which is replaced at once. Refused unless the key that this Emacs gave in `initialize` is registered for this store, and where anything in that file is not understood. Returns the `rule` with its `rule_id` and its `line`.",
  ],
  'rule/dismiss': [ruleDismissParams, 'Dismisses a proposal. It is not made again.'],
  'rule/list': [
    null,
    'Returns every rule with the `line` of the file at `path`, how often it answered and when last (`uses`, `last_used_at`, as far as the store remembers), whether it has `expired`, the `problems` of the file, and the `proposals` that the history suggests.',
  ],
  'rule/propose': [
    ruleSuggestParams,
    'Returns the rule that a permission suggests, complete, other patterns for its `input`, the narrowest first, and its `trial` as `rule/try` does. Writes nothing.',
  ],
  'phone/allow': [
    deviceParams,
    "Lets a phone allow permissions: lists its key among the seats in the human's own file, as `seat/register` does. `text` is for the human; if `registered` is false, it says what they can do.",
  ],
  'phone/confirm': [
    confirmParams,
    'Lets a phone in that has used a pairing code: its human has compared the phrases.',
  ],
  'phone/invite': [
    inviteParams,
    'Makes a pairing code for a phone of this human: one use, ten minutes. Returns the `code` as people type it, the `address` with the code behind `#`, which is what the QR code shows (`qr_svg`, `qr_blocks`), and a `warning` if no phone can use that address. Refused if it is not known where the inbox is.',
  ],
  'phone/list': [
    null,
    'Returns the phones that were paired, oldest first. `state` is `unconfirmed`, `confirmed` or `revoked`. `may_allow`: its key is listed among the seats. `push`: `on`, `off`, or `failed` with the reason in `push_failed`.',
  ],
  'phone/paired': [
    pairedParams,
    'Returns the phone that has used this code, and the `phrase` that it shows; both null until one has.',
  ],
  'phone/revoke': [
    deviceParams,
    "Takes away the access of a phone, at once and for ever, and takes its key out of the human's own file. If that file could not be written, `problem` says what the human has to do.",
  ],
  'rule/revoke': [ruleRevokeParams, "Removes a rule from the human's own file, as `rule/add` writes one."],
  'rule/try': [
    ruleTryParams,
    'Returns what a rule would have answered in the last `days`: how many calls the human `allowed` and `denied`, how many were answered in a terminal (`elsewhere`), by nobody (`unanswered`), or by other rules (`by_rules`), some `examples`, and as `counter_examples` what the human decided otherwise. `problem` says why it is no rule.',
  ],
  'stats/read': [
    statsParams,
    'Returns how long agents waited for their humans since then, by kind, project and agent; the questions of each day; through what they were answered; what was asked most; and what rules saved. Durations are in ms.',
  ],
  'seat/register': [
    seatRegisterParams,
    'Registers the public key of a further seat for this store, which the human has confirmed. Refused unless the key that this Emacs gave in `initialize` is registered for this store. Returns `registered`, `is_new` and a `text` for the human, as `seat` in the reply to `initialize` does.',
  ],
  'hivemind-response': [
    responseParams,
    `Answers a question. \`selected\` wins over \`decision\`, which has at most ${PROMPT_LIMITS.decision} characters; one of them is required. A second answer gets \`accepted: false\` and the winner. A frame sent again under its \`response_id\` is the same answer. Without a \`response_id\` the sidecar makes one from this desk and the content, so a repeated frame is one answer too. \`by\` defaults to the human of this desk. Accepted as a notification too. An answer that cannot be accepted is refused, kept, and announced by \`desk/notice\` with \`notice: "unread_answer"\` and what was \`sent\`.`,
  ],
  'mention/allow': [
    pairParams,
    'Allows two sessions to continue whose exchange of mentions was stopped or muted. Takes handles or ids.',
  ],
  'mention/list': [
    mentionListParams,
    'Returns the mentions of the human, or of a session, newest first, 200 per page by default (`limit`).',
  ],
  'mention/loops': [null, 'Returns the pairs of sessions whose exchange was stopped or muted, and why.'],
  'mention/mute': [
    pairParams,
    'Mutes two sessions: mentions of each other reach neither, until they are allowed again.',
  ],
  'mention/process': [mentionProcessParams, 'Marks mentions as processed: `mention_ids`, or `all`.'],
  'message/list': [
    messageListParams,
    'Returns messages of a project: the latest, or those `after` or `before` a cursor. 200 per page by default (`limit`).',
  ],
  'message/post': [
    postParams,
    `Posts a message as the human; \`body\` has at most ${MESSAGE_LIMITS.bodyBytes / 1024} KiB. A frame sent again under its \`message_id\` is the same message.`,
  ],
  'notice/list': [
    noticeListParams,
    'Returns the notices for the human, newest first, 100 per page by default (`limit`).',
  ],
  'outreach/list': [
    outreachListParams,
    'Returns pings, cards and reports, newest first, 100 per page by default (`limit`).',
  ],
  'prompt/amend': [
    amendParams,
    'Corrects an answer of this human until it is handed to the agent. Each correction has its own `response_id`.',
  ],
  'prompt/cancel': [actParams, 'Cancels a question. It then carries no decision.'],
  'prompt/claim': [actParams, 'Claims the question for this desk. The claim lasts as long as the desk.'],
  'prompt/get': [
    promptRef,
    'Returns one prompt in full, with at most 200 of its events. `changed_files` has the files on this machine that a pending permission shows as diffs and that were written since.',
  ],
  'prompt/list': [
    listParams,
    'Returns prompts, 200 per page by default (`limit`), and their total number. `mine` says whether a prompt concerns the human of this desk. A long context is cut; `prompt/get` returns it in full.',
  ],
  'prompt/release': [promptRef, 'Releases a claim of this desk.'],
  'prompt/seen': [promptRef, 'Records that the human has opened the question.'],
  'prompt/snooze': [snoozeParams, 'Snoozes the question until the given time; null ends the snooze.'],
  'session/configure': [
    configureParams,
    'Changes the settings of one session. A setting that is left out keeps its value; null restores the default.',
  ],
  'session/end': [sessionRef, 'Says that an agent in Emacs is gone: its turn and its session end.'],
  'session/introduce': [
    introduceParams,
    'Introduces an agent that another package in this Emacs shows, or says what has changed. Emacs makes the id. Returns the session; where the hooks of the agent speak for it, that is theirs, and `hooked` is true.',
  ],
  'session/list': [
    sessionListParams,
    'Returns sessions, newest first, 200 by default (`limit`). `more` means that others were left out.',
  ],
  'turn/begin': [
    beginTurnParams,
    'Says that an agent in Emacs begins a turn. What it asks from then on falls with it. `turn_id` is null where its hooks report its turns.',
  ],
  'turn/cancel_interrupt': [
    cancelInterruptParams,
    'Withdraws one interrupt, or all interrupts of the turn that are pending.',
  ],
  'turn/end': [
    endTurnParams,
    'Says that the turn of an agent in Emacs has ended, and all its dialogs with it. `cancelled` as the reason means that somebody stopped it.',
  ],
  'turn/interrupt': [
    interruptParams,
    `Interrupts a turn. The reply waits until the turn is over, at most \`timeout_ms\` milliseconds (${INTERRUPT_LIMITS.defaultTimeoutMs} by default), after which it says \`unconfirmed\`. It comes after the \`turn/changed\` that reports the end.`,
  ],
  'turn/interrupt_all': [interruptAllParams, 'Does the same for every running turn.'],
};
