/** Popups of mentions of the human: each once a seat, as its wishes have it. */
import { type MentionOfHuman, mentionPopup } from '../domain/mention-popups.ts';
import { decide } from '../domain/popups.ts';
import { HUMAN_ADDRESSEE, HUMAN_HANDLE } from '../domain/sessions.ts';
import { type Announced, startAnnouncements } from './announcements.ts';
import { deliverMentions } from './mention-records.ts';
import type { PopupParts, PopupParty } from './popups.ts';
import type { ReadTx } from './ports.ts';

async function findOpen(tx: ReadTx, mention_id: string): Promise<MentionOfHuman | undefined> {
  const mention = await tx.mentions.get(mention_id);
  if (mention?.session_id !== HUMAN_ADDRESSEE || mention.status !== 'unprocessed') return undefined;
  const author =
    mention.from_session_id === null ? undefined : await tx.sessions.get(mention.from_session_id);
  return { ...mention, source: author?.source ?? 'main' };
}

function mentionsOfHuman(seat: string): Announced<MentionOfHuman> {
  return {
    arrived: ({ type, subject, data }) =>
      type === 'mention/created' && data['handle'] === HUMAN_HANDLE ? subject : null,
    find: findOpen,
    idOf: (mention) => mention.mention_id,
    verdict: ({ priority, project, project_dir }, preferences, where, moment) =>
      decide(
        {
          urgency: priority === 'urgent' ? 'critical' : 'normal',
          project: project ?? '',
          project_dir: project_dir ?? '',
        },
        preferences,
        where,
        moment,
      ),
    popup: mentionPopup,
    async settle(tx, mention_id, became) {
      const mention = became.outcome === 'sent' ? await findOpen(tx, mention_id) : undefined;
      if (mention !== undefined) await deliverMentions(tx, [mention], `popup:${seat}`);
    },
  };
}

/** Runs until the returned function is called. */
export function startMentionPopups(
  parts: Pick<PopupParts, 'store' | 'feed' | 'notifier' | 'log'>,
  party: PopupParty,
): () => Promise<void> {
  return startAnnouncements(parts, party, mentionsOfHuman(party.seat));
}
