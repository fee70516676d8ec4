// What docs/protocol.md says of each JSON-RPC method: the zod shape of its params, null where it takes none, and
// what it does. A test calls every method with wrong params and compares what is refused with these shapes.
import { INTERRUPT_LIMITS } from '../src/domain/interrupts.ts';
import { MESSAGE_LIMITS } from '../src/domain/messages.ts';
import { PROMPT_LIMITS } from '../src/domain/prompts.ts';
import { focusParams, initializeParams, preferencesParams } from '../src/schemas/desks.ts';
import { historyParams } from '../src/schemas/history.ts';
import { mentionListParams, mentionProcessParams, pairParams } from '../src/schemas/mentions.ts';
import { messageListParams, postParams } from '../src/schemas/messages.ts';
import { noticeListParams } from '../src/schemas/notices.ts';
import { outreachListParams } from '../src/schemas/outreach.ts';
import {
  actParams,
  amendParams,
  listParams,
  promptRef,
  responseParams,
  snoozeParams,
} from '../src/schemas/prompts.ts';
import { configureParams, sessionListParams } from '../src/schemas/sessions.ts';
import { cancelInterruptParams, interruptAllParams, interruptParams } from '../src/schemas/turns.ts';

/** The handshake, which stands apart from the methods of the capabilities. */
export const HANDSHAKE = {
  initialize: [initializeParams, 'Opens the desk, once a connection; another protocol_version is refused.'],
  shutdown: [
    null,
    'Answered with null; the notification `exit`, or the end of stdin, then ends the sidecar.',
  ],
};

export const METHODS = {
  'desk/focus': [focusParams, 'Whether this Emacs has the focus: popups go by it.'],
  'desk/preferences': [
    preferencesParams,
    "What changes of the seat's preferences; a null goes back to the default, what is left out stays. Returns them all. `outreach` holds at every seat.",
  ],
  'doctor/run': [null, 'What `hive doctor` finds.'],
  'history/search': [
    historyParams,
    'What was asked and answered, newest first, 100 a page unless `limit` says otherwise. Of each text 400 characters, or with `full` all of it.',
  ],
  'hivemind-response': [
    responseParams,
    `An answer. \`selected\` wins over \`decision\`, which is at most ${PROMPT_LIMITS.decision} characters; one of them is needed. Who comes second gets \`accepted: false\` and the winner. Sent again under its \`response_id\` it is one answer; one without gets an id made from this desk and its content, so a repeated frame is one answer too. \`by\` is the human of this desk unless given. Taken as a notification as well. An answer that cannot be taken is refused, kept, and announced by \`desk/notice\` with \`notice: "unread_answer"\` and what was \`sent\`.`,
  ],
  'mention/allow': [
    pairParams,
    'Lets two sessions go on whose exchange of mentions was stopped or muted. Handles or ids.',
  ],
  'mention/list': [
    mentionListParams,
    "The human's mentions, or a session's, newest first, 200 a page unless `limit` says otherwise.",
  ],
  'mention/loops': [null, 'The pairs of sessions whose exchange was stopped or muted, and why.'],
  'mention/mute': [
    pairParams,
    'Mentions of each other reach neither of two sessions, until they are allowed again.',
  ],
  'mention/process': [mentionProcessParams, 'Marks mentions as dealt with: `mention_ids`, or `all`.'],
  'message/list': [
    messageListParams,
    'Messages of a project: the latest, or those `after` or `before` a place. 200 a page unless `limit` says otherwise.',
  ],
  'message/post': [
    postParams,
    `Posts for the human; \`body\` is at most ${MESSAGE_LIMITS.bodyBytes / 1024} KiB. Sent again under its \`message_id\` it is one message.`,
  ],
  'notice/list': [
    noticeListParams,
    'What the human was told of, newest first, 100 a page unless `limit` says otherwise.',
  ],
  'outreach/list': [
    outreachListParams,
    'Pings, cards and reports, newest first, 100 a page unless `limit` says otherwise.',
  ],
  'prompt/amend': [
    amendParams,
    'Corrects an own answer, until it is handed to the agent. Each correction has a `response_id` of its own.',
  ],
  'prompt/cancel': [actParams, 'Takes a question back. It then carries no decision.'],
  'prompt/claim': [actParams, 'This desk has taken the question up; a claim lasts as long as the desk.'],
  'prompt/get': [promptRef, 'One prompt in full, with its trail of at most 200 events.'],
  'prompt/list': [
    listParams,
    'Prompts, 200 a page unless `limit` says otherwise, and how many there are in all. A long context is cut: `prompt/get` has the whole.',
  ],
  'prompt/release': [promptRef, 'Gives a claim of this desk up.'],
  'prompt/seen': [promptRef, 'The human has opened it.'],
  'prompt/snooze': [snoozeParams, 'Out of the way until then; null brings it back.'],
  'session/configure': [
    configureParams,
    'What the human sets of one session. What is left out stays; a null goes back to what holds without it.',
  ],
  'session/list': [
    sessionListParams,
    'Sessions, newest first, 200 unless `limit` says otherwise; `more`: others were left out.',
  ],
  'turn/cancel_interrupt': [
    cancelInterruptParams,
    'Withdraws one request for an interrupt, or all that wait for the turn.',
  ],
  'turn/interrupt': [
    interruptParams,
    `Stops a turn. The reply waits until it is over, at most \`timeout_ms\` milliseconds (${INTERRUPT_LIMITS.defaultTimeoutMs} by default), and then says \`unconfirmed\`. It comes after the \`turn/changed\` that tells of the end.`,
  ],
  'turn/interrupt_all': [interruptAllParams, 'The same for every turn that runs.'],
};
