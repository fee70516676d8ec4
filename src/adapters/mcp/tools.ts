/** Every tool on one screen, with the role that sees it. */

import type { Role } from '../../domain/tokens.ts';
import { coordinatorPromptTools } from './coordinating.ts';
import { mentionTools } from './mentions.ts';
import { messageTools } from './messages.ts';
import { outreachTools } from './outreach.ts';
import { promptTools } from './prompts.ts';
import { sessionTools } from './sessions.ts';
import { statusTools } from './status.ts';
import type { Tool } from './tool.ts';
import { coordinatorTurnTools } from './turns.ts';

const FOR_EVERY_AGENT: readonly Tool[] = [
  ...promptTools,
  ...statusTools,
  ...messageTools,
  ...mentionTools,
  ...sessionTools,
  ...outreachTools,
];
const FOR_COORDINATORS: readonly Tool[] = [...coordinatorPromptTools, ...coordinatorTurnTools];

export function toolsFor(role: Role): readonly Tool[] {
  return role === 'coordinator' ? [...FOR_EVERY_AGENT, ...FOR_COORDINATORS] : FOR_EVERY_AGENT;
}

/** The names of the tools that a role does not see, which its model may have read of and call all the same. */
export function hiddenFrom(role: Role): ReadonlySet<string> {
  const seen = new Set(toolsFor(role).map(({ name }) => name));
  return new Set(FOR_COORDINATORS.map(({ name }) => name).filter((name) => !seen.has(name)));
}
