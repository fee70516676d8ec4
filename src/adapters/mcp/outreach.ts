/** The tools of outreach: ping, card and report. */
import { type Outreach, unseenSentence } from '../../domain/outreach.ts';
import { sourceLabel } from '../../domain/sources.ts';
import { cardShape, pingShape, reportShape } from '../../schemas/outreach.ts';
import { sentences, type Tool, tool } from './tool.ts';

/** The outcome as a sentence: it was sent, or nobody is there to see it. */
function sentence(item: Outreach): string {
  return item.status === 'unseen' ? unseenSentence(item) : 'Sent.';
}

/** Only a background session must report visible output; the others have no main session to report to. */
function afterShowing({ source, status }: Outreach): string | null {
  return source === 'bg' && status !== 'unseen'
    ? 'Before you stop, tell your main session with hivemind_report_updates: it does not see this.'
    : null;
}

const ping = tool({
  name: 'hivemind_ping_user',
  title: 'Ping the human',
  description:
    'Only from a background session: one line that your human sees at once, in the editor or as a notification. For things worth an interruption; a loop of pings is stopped. For a question use hivemind_ask_async.',
  example: { message: 'The build is green.' },
  input: pingShape,
  claim: 'message',
  effect: 'speaks',
  async handle(args, { hive, session, advice }) {
    const item = await hive.outreach.ping(args, session);
    const { outreach_id, status, source, critical } = item;
    return {
      outreach_id,
      status,
      source,
      critical,
      next: sentences(sentence(item), afterShowing(item), advice),
    };
  },
});

const card = tool({
  name: 'hivemind_send_card',
  title: 'Show the human a card',
  description:
    'A small page for your human: a title, a text, fields, and buttons if you want an answer. Kept in their editor.',
  example: { title: 'Build', description: 'All green.' },
  input: cardShape,
  claim: 'description',
  aliases: { buttons: 'actions' },
  effect: 'speaks',
  async handle(args, { hive, session, advice }) {
    const item = await hive.outreach.card(args, session);
    const { outreach_id, status, source, ask_id } = item;
    const buttons =
      ask_id === null
        ? null
        : `A pressed button is an answer: check with hivemind_poll {"ask_id": "${ask_id}"}. Continue your work.`;
    return {
      outreach_id,
      status,
      source,
      footer: sourceLabel(source),
      ask_id,
      next: sentences(sentence(item), buttons, afterShowing(item), advice),
    };
  },
});

const report = tool({
  name: 'hivemind_report_updates',
  title: 'Report to your main session',
  description:
    'Only from a background session or a fork: tell the session that continues your work (your parent, else the main session of the project) what you found and did. It is kept until that session has read it.',
  example: { message: 'Built and tested; nothing is open.' },
  input: reportShape,
  claim: 'message',
  effect: 'speaks',
  async handle(args, { hive, session, advice }) {
    const { item, reported, reader } = await hive.outreach.report(args, session);
    const { outreach_id, status, source } = item;
    const whom = reader ?? 'the main session of this project';
    return {
      outreach_id,
      status,
      source,
      reported,
      reader,
      next: sentences(`Kept for ${whom} until it has read it. You may stop now.`, advice),
    };
  },
});

export const outreachTools: readonly Tool[] = [ping, card, report];
