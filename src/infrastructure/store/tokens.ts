/** The statements of tokens. */
import type { TokenRecords } from '../../application/ports.ts';
import type { Token } from '../../domain/tokens.ts';
import { damagedRows } from './checksums.ts';
import { pruneTokens } from './prune.ts';
import { decodeIntact, type Sql, type Statement, statement, table } from './sql.ts';

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

const GET = statement(() => `SELECT ${tokens.list} FROM tokens WHERE name = $1`);
const BY_DIGEST = statement(() => `SELECT ${tokens.list} FROM tokens WHERE digest = $1`);
const LIST = statement(() => `SELECT ${tokens.list} FROM tokens ORDER BY name`);
const PUT = statement(() => `${tokens.insert()} ON CONFLICT (name) DO UPDATE SET ${tokens.assignments}`);

export function tokenStatements(sql: Sql): TokenRecords {
  async function one(query: Statement, value: string): Promise<Token | undefined> {
    const [row] = await sql.all(query, [value]);
    return row === undefined ? undefined : tokens.decode(row);
  }

  return {
    get: (name) => one(GET, name),
    byDigest: (digest) => one(BY_DIGEST, digest),
    damaged: (after) => damagedIn(sql, after),
    list: async () => decodeIntact(await sql.all(LIST, []), tokens.decode),
    async put(token) {
      await sql.run(PUT, tokens.encode(token));
    },
    ...pruneTokens(sql),
  };
}
