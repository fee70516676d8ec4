/** Input about the agents of other packages in this Emacs: their sessions, turns and dialogs. */
import { z } from 'zod';
import { objectIn, type Raw } from '../../domain/json.ts';
import { PROMPT_LIMITS } from '../../domain/prompts.ts';
import { EDITOR_SESSION } from '../../domain/sessions.ts';
import { characters } from '../../schemas/characters.ts';

const limits = PROMPT_LIMITS;
const key = characters(100).min(1);
const session_id = z.string().regex(EDITOR_SESSION);
const text = characters(65_536);
/** An object as it was sent: `z.record` leaves out a field with the name `__proto__`, and it would not be shown. */
const anyObject = z
  .custom<Raw>((value) => objectIn(value) !== null, 'Invalid input: expected an object')
  .meta({ type: 'object', additionalProperties: {} });

/** `session/introduce`: an agent that Emacs shows. Emacs makes the id; sent again, it reports changes. */
export const introduceParams = z.object({
  session_id,
  client: characters(100).min(1),
  directory: z.string().min(1).max(4_096),
  client_session_id: characters(500)
    .min(1)
    .optional()
    .describe("The agent's own id of the conversation, under which its hooks report it."),
  pid: z.number().int().min(1).optional(),
  name: characters(limits.key).optional().describe('The name that its person gave it.'),
});

/** `session/end`. */
export const sessionRef = z.object({ session_id });

/** `turn/begin`. */
export const beginTurnParams = z.object({
  session_id,
  client_turn_id: characters(limits.key).min(1).optional(),
});

/** `turn/end`: `cancelled` means that somebody stopped it. */
export const endTurnParams = z.object({ session_id, stop_reason: characters(100).optional() });

const option = z.object({
  id: characters(limits.key),
  label: characters(limits.optionLabel),
  description: characters(limits.optionDescription).optional(),
  refuses: z.boolean().describe('Choosing it permits nothing.'),
  once: z.boolean().optional().describe('It permits this one call only. A rule may choose no other one.'),
});

const change = z.object({
  path: characters(4_096),
  before: z.string().nullable().describe('Null for a new file.'),
  after: z.string(),
});

/** `dialog/open`: a permission, or with `form` a form. */
export const openParams = z.object({
  session_id,
  key,
  tool: characters(limits.key).optional().describe("The tool's name, as rules see it."),
  kind: characters(limits.key)
    .optional()
    .describe('The kind of the call, such as `execute`: rules see it where there is no name.'),
  input: anyObject.optional(),
  header: text.optional().describe("The agent's title of the call. No rule matches it."),
  context: text.optional().describe("The agent's further words about it."),
  changes: z.array(change).max(100).optional(),
  rest: anyObject.optional().describe('Everything else that came with the call.'),
  options: z.array(option).max(limits.options).optional(),
  takes_notes: z.boolean().optional().describe('A comment with the answer reaches the agent.'),
  form: z
    .object({
      message: text,
      schema: anyObject.optional(),
      url: characters(4_096).optional(),
    })
    .optional(),
});

/** `dialog/close`. */
export const closeParams = z.object({
  key,
  reason: z.enum(['answered_elsewhere', 'withdrawn', 'interrupted']),
  decision: text.optional().describe('The answer given there.'),
});

/** `dialog/handed`. */
export const handedParams = z.object({ key });
