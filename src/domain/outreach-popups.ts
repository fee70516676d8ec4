/** How pings and cards look on the desktop, and whether they do. Pure; the human's wishes are those for prompts. */
import { cardPopupText, type Outreach } from './outreach.ts';
import { decide, type Popup, type Verdict } from './popups.ts';
import type { Moment, Preferences } from './preferences.ts';
import { sourcePrefix } from './sources.ts';
import { excerpt } from './text.ts';

const TITLE_LENGTH = 120;
const BODY_LENGTH = 500;
/** So many of a storm are named. */
const NAMED = 3;

export function isOutreachShown(
  item: Pick<Outreach, 'critical' | 'project' | 'project_dir'>,
  preferences: Preferences,
  seat: { focused: boolean },
  moment: Moment,
): Verdict {
  const { project, project_dir, critical } = item;
  return decide(
    { urgency: critical ? 'critical' : 'normal', project, project_dir },
    preferences,
    seat,
    moment,
  );
}

/** One ping or card. The label comes before the name; a card carries it as its footer, too. */
export function outreachPopup(item: Outreach, preferences: Preferences): Popup {
  const { kind, source, agent, project, message } = item;
  return {
    kind: 'outreach',
    title: excerpt(`${sourcePrefix(source)}${agent} · ${project}`, TITLE_LENGTH),
    body: kind === 'card' ? cardPopupText(item, BODY_LENGTH) : excerpt(message ?? '', BODY_LENGTH),
    urgency: item.critical ? 'critical' : 'normal',
    buttons: [],
    openable: false,
    sound: preferences.sound,
    command: preferences.notify_command,
    prompts: [],
  };
}

/** One popup for many: how many, and the first of them. */
export function outreachStormPopup(items: readonly Outreach[], preferences: Preferences): Popup {
  const lines = items
    .slice(0, NAMED)
    .map(({ source, agent, title, message }) =>
      excerpt(`${sourcePrefix(source)}${agent}: ${title ?? message ?? ''}`, TITLE_LENGTH),
    );
  if (items.length > NAMED) lines.push(`and ${items.length - NAMED} more`);
  return {
    kind: 'outreach',
    title: `${items.length} messages from agents`,
    body: lines.join('\n'),
    urgency: items.some(({ critical }) => critical) ? 'critical' : 'normal',
    buttons: [],
    openable: false,
    sound: preferences.sound,
    command: preferences.notify_command,
    prompts: [],
  };
}
