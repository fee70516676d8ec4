/** The knowledge of the workers of a correct run and its store: tests of the checker change it. */
import type { Evidence, Fact } from '../chaos/facts.ts';

type Rows = Record<keyof Omit<Evidence['store'], 'integrity'>, Record<string, unknown>[]>;

/** One question that was answered, handed and read, one that expired and was answered late, a message and its mention. */
export function story(): { facts: Record<string, Fact[]>; store: Rows & { integrity: string } } {
  let seq = 0;
  const event = (type: string, subject: string, data: object = {}): Record<string, unknown> => {
    seq += 1;
    return { seq, at: `2026-01-11T10:00:0${seq % 10}.000Z`, type, subject, session_id: 'agent', data };
  };
  const events = [
    event('prompt/created', 'ask-1'),
    event('prompt/offered', 'ask-1'),
    event('prompt/responded', 'ask-1', { decision: 'answer 1' }),
    event('prompt/lost_response', 'ask-1', { decision: 'answer 2' }),
    event('prompt/handed', 'ask-1'),
    event('prompt/collected', 'ask-1'),
    event('prompt/created', 'ask-2'),
    event('prompt/expired', 'ask-2'),
    event('prompt/late_response', 'ask-2', { decision: 'answer 3' }),
    event('message/posted', 'msg-1'),
  ];
  const at = (index: number): unknown => events[index]?.['at'];
  const prompt = {
    agent: 'Agent-first',
    kind: 'question',
    seen_at: null,
    offered_at: null,
    handed_at: null,
    collected_at: null,
    late_response: null,
    cancel_reason: null,
    comment: null,
  };
  const answer = (n: number, ask_id: string, outcome: string): Record<string, unknown> => ({
    response_id: `response-${n}`,
    ask_id,
    decision: `answer ${n}`,
    by: 'ada',
    via: 'emacs',
    responded_at: at(2),
    outcome,
  });
  const settled = {
    by: 'ada',
    via: 'emacs',
    responded_at: at(2),
    settled_at: at(2),
    response_id: 'response-1',
  };
  return {
    facts: {
      agent: [
        { did: 'tried', what: 'ask', text: 'question 1' },
        { did: 'asked', key: 'question 1', ask_id: 'ask-1' },
        {
          did: 'told',
          ask_id: 'ask-1',
          status: 'responded',
          decision: 'answer 1',
          text: 'answer 1',
          via: 'poll',
        },
        { did: 'tried', what: 'ask', text: 'question 2' },
        { did: 'asked', key: 'question 2', ask_id: 'ask-2' },
        {
          did: 'told',
          ask_id: 'ask-2',
          status: 'expired',
          decision: null,
          text: 'late: answer 3',
          via: 'poll',
        },
        { did: 'tried', what: 'post', text: 'message 1' },
        { did: 'posted', message_id: 'msg-1', body: 'message 1' },
        { did: 'processed', mention_ids: ['mention-1'] },
        { did: 'hooked', tool: 'Bash', held: true, reason: 'Call hivemind_process_mentions.' },
      ],
      desk: [
        { did: 'opened', head_seq: 0 },
        ...['answer 1', 'answer 2', 'answer 3'].map((text): Fact => ({ did: 'tried', what: 'answer', text })),
        { did: 'heard', method: 'hivemind-ask', id: 'ask-1', status: 'pending' },
        {
          did: 'answered',
          ask_id: 'ask-1',
          decision: 'answer 1',
          accepted: true,
          late: false,
          status: 'responded',
          standing: 'answer 1',
        },
        {
          did: 'answered',
          ask_id: 'ask-1',
          decision: 'answer 2',
          accepted: false,
          late: false,
          status: 'responded',
          standing: 'answer 1',
        },
        { did: 'heard', method: 'prompt/changed', id: 'ask-2', status: 'expired' },
        {
          did: 'answered',
          ask_id: 'ask-2',
          decision: 'answer 3',
          accepted: false,
          late: true,
          status: 'expired',
          standing: 'answer 3',
        },
        { did: 'heard', method: 'message/posted', id: 'msg-1', status: null },
      ],
      follower: [
        { did: 'followed', after: 0 },
        ...events.map((one): Fact => ({ did: 'saw', seq: Number(one['seq']) })),
      ],
    },
    store: {
      integrity: 'ok',
      events,
      prompts: [
        {
          ...prompt,
          ...settled,
          ask_id: 'ask-1',
          idempotency_key: 'question 1',
          question: 'question 1?',
          status: 'responded',
          decision: 'answer 1',
          selected: [],
          created_at: at(0),
          offered_at: at(1),
          handed_at: at(4),
          collected_at: at(5),
        },
        {
          ...prompt,
          ask_id: 'ask-2',
          idempotency_key: 'question 2',
          question: 'question 2?',
          status: 'expired',
          decision: null,
          selected: [],
          by: null,
          via: 'clock',
          response_id: null,
          created_at: at(6),
          settled_at: at(7),
          late_response: { decision: 'answer 3' },
        },
      ],
      responses: [answer(1, 'ask-1', 'accepted'), answer(2, 'ask-1', 'lost'), answer(3, 'ask-2', 'late')],
      messages: [{ message_id: 'msg-1', seq: 1, body: 'message 1' }],
      mentions: [{ mention_id: 'mention-1', status: 'processed' }],
      turns: [{ turn_id: 'turn-1', state: 'completed', abort_reason: null }],
    },
  };
}
