/** The statements of tokens. */
import type { TokenRecords } from '../../application/ports.ts';
import type { Token } from '../../domain/tokens.ts';
import { damagedRows } from './checksums.ts';
import { pruneTokens } from './prune.ts';
import { change, decodeIntact, one, type Sql, statement, table } from './sql.ts';

const tokens = table<Token>('tokens', {
  name: 'plain',
  digest: 'plain',
  agent: 'plain',
  role: 'plain',
  projects: 'json',
  created_at: 'plain',
  revoked_at: 'plain',
});
const damagedIn = damagedRows(tokens, 'tokens', 'token ');

const GET = statement(() => `${tokens.select} WHERE name = $1`);
const BY_DIGEST = statement(() => `${tokens.select} WHERE digest = $1`);
const LIST = statement(() => `${tokens.select} ORDER BY name`);
const PUT = statement(() => tokens.upsert());

export function tokenStatements(sql: Sql): TokenRecords {
  return {
    get: (name) => one(sql, GET, [name], tokens.decode),
    byDigest: (digest) => one(sql, BY_DIGEST, [digest], tokens.decode),
    damaged: (after) => damagedIn(sql, after),
    list: async () => decodeIntact(await sql.all(LIST, []), tokens.decode),
    put: (token) => change(sql, PUT, tokens.encode(token)),
    ...pruneTokens(sql),
  };
}
