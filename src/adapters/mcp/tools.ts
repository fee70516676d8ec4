/** Every tool on one screen, with the role that sees it. */
import { coordinatorPromptTools, promptTools } from './prompts.ts';
import type { Role, Tool } from './server.ts';
import { statusTools } from './status.ts';

const FOR_EVERY_AGENT: readonly Tool[] = [...promptTools, ...statusTools];
const FOR_COORDINATORS: readonly Tool[] = [...coordinatorPromptTools];

export function toolsFor(role: Role): readonly Tool[] {
  return role === 'coordinator' ? [...FOR_EVERY_AGENT, ...FOR_COORDINATORS] : FOR_EVERY_AGENT;
}
