/** Every tool on one screen, with the role that sees it. */
import { mentionTools } from './mentions.ts';
import { messageTools } from './messages.ts';
import { coordinatorPromptTools, promptTools } from './prompts.ts';
import type { Role, Tool } from './server.ts';
import { sessionTools } from './sessions.ts';
import { statusTools } from './status.ts';

const FOR_EVERY_AGENT: readonly Tool[] = [
  ...promptTools,
  ...statusTools,
  ...messageTools,
  ...mentionTools,
  ...sessionTools,
];
const FOR_COORDINATORS: readonly Tool[] = [...coordinatorPromptTools];

export function toolsFor(role: Role): readonly Tool[] {
  return role === 'coordinator' ? [...FOR_EVERY_AGENT, ...FOR_COORDINATORS] : FOR_EVERY_AGENT;
}
