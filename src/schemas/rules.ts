/** Input about rules. */
import { z } from 'zod';
import type { RuleDraft } from '../domain/rules.ts';
import { SOURCES } from '../domain/sources.ts';

const text = z.string().min(1).max(4_096);

/** A rule, with the field names of the human's file. */
export const ruleDraft = z.object({
  decision: z.enum(['allow', 'deny']),
  tool: text,
  input: text.nullish().transform((value) => value ?? null),
  project: text.nullish().transform((value) => value ?? null),
  source: z.enum(SOURCES).nullish(),
  machine: text.nullish(),
  note: z.string().min(1).max(1_000).nullish(),
  /** The day (UTC) at whose beginning it expires. */
  expires: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/, 'A rule ends on a day such as 2027-03-31.')
    .nullish(),
  name: z.string().min(1).max(200).nullish(),
}) satisfies z.ZodType<RuleDraftInput>;

type RuleDraftInput = { [Key in keyof RuleDraft]: RuleDraft[Key] | null | undefined };

export const ruleSuggestParams = z.object({ ask_id: z.string().min(1).max(200) });
export const ruleTryParams = z.object({ rule: ruleDraft });
export const ruleAddParams = z.object({ rule: ruleDraft });
export const ruleRevokeParams = z.object({ rule_id: z.string().min(1).max(100) });
export const ruleDismissParams = z.object({ key: z.string().min(1).max(100) });
