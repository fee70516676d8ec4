/** Rules over JSON-RPC: Emacs shows them, and the sidecar decides what they are and do. */
import type { z } from 'zod';
import type { Setter } from '../../application/settings.ts';
import type { RuleDraft } from '../../domain/rules.ts';
import {
  ruleAddParams,
  ruleDismissParams,
  type ruleDraft,
  ruleRevokeParams,
  ruleSuggestParams,
  ruleTryParams,
} from '../../schemas/rules.ts';
import { acts, type DeskConnection, type Methods, takes, withoutParams } from './method.ts';

export const ruleMethods: Methods = {
  'rule/list': withoutParams(
    'Returns every rule with the `line` of the file at `path`, how often it answered and when last (`uses`, `last_used_at`, as far as the store remembers), whether it has `expired`, the `problems` of the file, and the `proposals` that the history suggests.',
    async ({ hive }) => ({ ...(await hive.rules.list()) }),
  ),

  'rule/propose': takes(
    ruleSuggestParams,
    'Returns the rule that a permission suggests, complete, other patterns for its `input`, the narrowest first, and its `trial` as `rule/try` does. Writes nothing.',
    async ({ ask_id }, { hive }) => ({
      ...(await hive.rules.suggest(ask_id)),
    }),
  ),

  'rule/try': takes(
    ruleTryParams,
    'Returns what a rule would have answered in the last `days`: how many calls the human `allowed` and `denied`, how many were answered in a terminal (`elsewhere`), by nobody (`unanswered`), or by other rules (`by_rules`), some `examples`, and as `counter_examples` what the human decided otherwise. `problem` says why it is no rule.',
    async ({ rule }, { hive }) => ({
      trial: await hive.rules.try(draftOf(rule)),
    }),
  ),

  'rule/add': acts(
    ruleAddParams,
    "Writes a rule into the human's own file (`trust.json`), which is replaced at once. Refused unless the key that this Emacs gave in `initialize` is registered for this store, and where anything in that file is not understood. Returns the `rule` with its `rule_id` and its `line`.",
    async ({ rule }, connection) => ({
      rule: await connection.hive.rules.add(draftOf(rule), setterAt(connection)),
    }),
  ),

  'rule/revoke': acts(
    ruleRevokeParams,
    "Removes a rule from the human's own file, as `rule/add` writes one.",
    async ({ rule_id }, connection) => ({
      rule: await connection.hive.rules.revoke(rule_id, setterAt(connection)),
    }),
  ),

  'rule/dismiss': acts(
    ruleDismissParams,
    'Dismisses a proposal. It is not made again.',
    async ({ key }, connection) => {
      await connection.hive.rules.dismiss(key, setterAt(connection));
      return {};
    },
  ),
};

/** Null means the same as a field that is left out. */
function draftOf({ source, machine, note, expires, name, ...rule }: z.infer<typeof ruleDraft>): RuleDraft {
  return {
    ...rule,
    source: source ?? null,
    machine: machine ?? null,
    note: note ?? null,
    expires: expires ?? null,
    ...(name == null ? {} : { name }),
  };
}

function setterAt({ human, pid, desk }: DeskConnection): Setter {
  return { by: human, pid, from: desk?.desk_id ?? null };
}
