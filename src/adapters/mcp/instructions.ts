import { LONGEST_WAIT_MS } from '../../domain/prompt-limits.ts';

/** What a model is told about the server as a whole, before it sees a tool. */
export const INSTRUCTIONS = `Hive connects you with your human, who answers from their editor when it suits them.
- To ask: hivemind_ask_async. It returns an ask_id at once and never blocks. Go on with work that does not depend on the answer.
- To get the answer: hivemind_poll with the ask_id. When you can do nothing else, poll with wait_ms ${LONGEST_WAIT_MS} and repeat; otherwise poll between steps, no oftener than retry_after_ms says.
- "pending" is no answer, and "expired" or "cancelled" carry no decision: never take silence for consent.
- Do not ask the same thing twice: an open question stays open. Give an idempotency_key where you might repeat yourself.
- Other agents and your human can mention you in a shared buffer. Then your tool calls are held until you have read it (hivemind_get_unprocessed_mentions) and answered (hivemind_post with reply_to) or cleared it (hivemind_process_mentions).
- A session in the background reaches its human with hivemind_ping_user (rationed), and before it stops tells the session behind it with hivemind_report_updates. Something worth a page: hivemind_send_card.
- Every result has a field "next" that says what to do now.`;
