/** The statements of rules: the permissions that clients asked for, and how often each rule answered. */
import type { RuleReads } from '../../application/ports.ts';
import type { PastPermission } from '../../domain/rules.ts';
import { columns, type Sql, statement, table } from './sql.ts';
import { askedPage } from './stats.ts';

const permissions = table<PastPermission>(
  'permissions',
  columns({
    plain: `ask_id created_at agent source project project_dir kind fingerprint context status cancel_reason
      by via machine`,
    boolean: 'dialog',
    list: 'options selected',
  }),
);

/** Oldest first, by the index of time. A permission whose session was removed cannot be attributed to a machine. */
const PAST = statement(
  () => `SELECT ${permissions.list} FROM (SELECT prompts.*, sessions.machine FROM prompts
     JOIN sessions ON sessions.session_id = prompts.session_id) AS permissions
   WHERE kind = 'permission' AND dialog = 1 AND (created_at, ask_id) > ($1, $2)
   ORDER BY created_at, ask_id LIMIT $3`,
);
const USES = statement(
  `SELECT "by" AS name, COUNT(*) AS uses, MAX(created_at) AS last_used_at FROM prompts
   WHERE kind = 'permission' AND via = 'rule' GROUP BY "by"`,
);

export function ruleStatements(sql: Sql): RuleReads {
  return {
    async past({ at, ask_id }, limit) {
      return askedPage(await sql.all(PAST, [at, ask_id, limit]), limit, permissions.decode);
    },
    async uses() {
      const rows = await sql.all(USES, []);
      return rows.map((row) => ({
        name: String(row['name']),
        uses: Number(row['uses']),
        last_used_at: String(row['last_used_at']),
      }));
    },
  };
}
