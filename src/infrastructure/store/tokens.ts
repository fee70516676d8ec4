/** The statements of tokens. */
import type { TokenRecords } from '../../application/ports.ts';
import type { Token } from '../../domain/tokens.ts';
import { columns, many, one, type Sql, statement, table } from './sql.ts';

const tokens = table<Token>(
  'tokens',
  columns({
    plain: 'name digest agent role created_at revoked_at',
    json: 'projects',
  }),
);

const BY_DIGEST = statement(() => `${tokens.select} WHERE digest = $1`);
const LIST = statement(() => `${tokens.select} ORDER BY name`);

export function tokenStatements(sql: Sql): TokenRecords {
  return {
    get: (name) => tokens.get(sql, name),
    byDigest: (digest) => one(sql, BY_DIGEST, [digest], tokens.decode),
    damaged: (after) => tokens.damaged(sql, after, 'token '),
    list: () => many(sql, LIST, [], tokens.decode),
    put: (token) => tokens.put(sql, token),
  };
}
