/** How mentions of the human look on the desktop. Pure. */
import { authorName } from './authors.ts';
import type { MentionInFull } from './mentions.ts';
import type { Popup } from './popups.ts';
import type { Preferences } from './preferences.ts';
import { type Source, sourcePrefix } from './sources.ts';
import { excerpt } from './text.ts';

const TITLE_LENGTH = 120;
const BODY_LENGTH = 500;
/** So many of a storm are named. */
const NAMED = 3;

/** A mention of the human, and where its author runs. */
export type MentionOfHuman = MentionInFull & { source: Source };

/** One popup for one mention or for many. */
export function mentionPopup(
  mentions: readonly [MentionOfHuman, ...MentionOfHuman[]],
  { sound, notify_command }: Preferences,
): Popup {
  return {
    kind: 'mention',
    ...(mentions.length === 1 ? wordsOfOne(mentions[0]) : wordsOfMany(mentions)),
    urgency: mentions.some((mention) => mention.priority === 'urgent') ? 'critical' : 'normal',
    buttons: [],
    openable: false,
    sound,
    command: notify_command,
    prompts: [],
  };
}

function wordsOfOne(mention: MentionOfHuman): Pick<Popup, 'title' | 'body'> {
  const { source, project, body } = mention;
  const place = project === null ? '' : ` · ${project}`;
  return {
    title: excerpt(`${sourcePrefix(source)}${authorName(mention)} mentions you${place}`, TITLE_LENGTH),
    body: excerpt(body, BODY_LENGTH),
  };
}

function wordsOfMany(mentions: readonly MentionOfHuman[]): Pick<Popup, 'title' | 'body'> {
  const lines = mentions
    .slice(0, NAMED)
    .map((mention) =>
      excerpt(`${sourcePrefix(mention.source)}${authorName(mention)}: ${mention.body}`, TITLE_LENGTH),
    );
  if (mentions.length > NAMED) lines.push(`and ${mentions.length - NAMED} more`);
  return { title: `${mentions.length} mentions of you`, body: lines.join('\n') };
}
