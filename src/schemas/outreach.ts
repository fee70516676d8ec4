/** Input about outreach. The limits are the domain's (OUTREACH_LIMITS); the descriptions explain each field to a model. */
import { z } from 'zod';
import { CARD_COLORS, OUTREACH_LIMITS, type OutreachChanges, REPORT_POLICIES } from '../domain/outreach.ts';

const limits = OUTREACH_LIMITS;

/** `hivemind_ping_user`. */
export const pingShape = {
  message: z.string().describe(`One thing your human should know now, up to ${limits.ping} characters.`),
  critical: z
    .boolean()
    .optional()
    .describe('It cannot wait: passes quiet hours and all limits. Counted. Default false.'),
};

/** `hivemind_send_card`. */
export const cardShape = {
  title: z.string().describe(`What the card is about, 1 to ${limits.title} characters.`),
  description: z.string().optional().describe(`Plain text, up to ${limits.description} characters.`),
  color: z
    .enum(CARD_COLORS)
    .optional()
    .describe('blue: for information; green: done; yellow: look; red: trouble.'),
  fields: z
    .array(
      z.object({
        name: z.string().describe(`Up to ${limits.fieldName} characters.`),
        value: z.string().describe(`Up to ${limits.fieldValue} characters.`),
        inline: z.boolean().optional().describe('Shown beside its neighbours. Default false.'),
      }),
    )
    .optional()
    .describe(`Up to ${limits.fields} names with values.`),
  actions: z
    .array(
      z.object({
        label: z.string().describe(`The button's text, up to ${limits.actionLabel} characters.`),
        ask: z
          .string()
          .optional()
          .describe('What pressing it asks of you; your human sees it beside the label.'),
      }),
    )
    .optional()
    .describe(`Up to ${limits.actions} buttons. Pressing one is an answer that you poll for.`),
};

/** `hivemind_report_updates`. */
export const reportShape = {
  message: z
    .string()
    .describe(
      'Up to 8 KB, for the session that continues your work: what you found and did, and what is still open.',
    ),
};

/** Outreach settings by the human, for every session (`desk/preferences`) or for one (`session/configure`). */
export const outreachSettingsShape = {
  allow_ping: z.boolean().nullish(),
  report_policy: z.enum(REPORT_POLICIES).nullish(),
};
export const outreachSettings: z.ZodType<OutreachChanges> = strictly(
  'outreach setting',
  outreachSettingsShape,
);

/** An object with no other keys than these; the error for any other key lists them. `what` is the word for a key. */
export function strictly<Shape extends z.core.$ZodLooseShape>(
  what: string,
  shape: Shape,
): z.ZodObject<Shape> {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no ${what} ${issue.keys.map((key) => `"${key}"`).join(', ')}; there are ${Object.keys(shape).join(', ')}.`
        : undefined,
  });
}

/** `outreach/list`: newest first, at most 500 a page. */
export const outreachListParams = z.object({
  kind: z.enum(['ping', 'card', 'report']).optional(),
  session_id: z.string().optional(),
  project_dir: z.string().max(4_096).optional(),
  limit: z.number().int().min(1).max(500).optional(),
  cursor: z.string().max(2_000).optional(),
});
