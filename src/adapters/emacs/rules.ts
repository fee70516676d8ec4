/** Rules over JSON-RPC: Emacs shows them; what they are and do is decided in the sidecar. */
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
import { acting, type DeskConnection, type Methods, takes, withoutParams } from './method.ts';

export const ruleMethods: Methods = {
  'rule/list': withoutParams(async ({ hive }) => ({ ...(await hive.rules.list()) })),

  'rule/propose': takes(ruleSuggestParams, async ({ ask_id }, { hive }) => ({
    ...(await hive.rules.suggest(ask_id)),
  })),

  'rule/try': takes(ruleTryParams, async ({ rule }, { hive }) => ({
    trial: await hive.rules.try(draftOf(rule)),
  })),

  'rule/add': acting(
    takes(ruleAddParams, async ({ rule }, connection) => ({
      rule: await connection.hive.rules.add(draftOf(rule), setterAt(connection)),
    })),
  ),

  'rule/revoke': acting(
    takes(ruleRevokeParams, async ({ rule_id }, connection) => ({
      rule: await connection.hive.rules.revoke(rule_id, setterAt(connection)),
    })),
  ),

  'rule/dismiss': acting(
    takes(ruleDismissParams, async ({ key }, connection) => {
      await connection.hive.rules.dismiss(key, setterAt(connection));
      return {};
    }),
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
