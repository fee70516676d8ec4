/** Tokens for agents that connect over HTTP: generated once, shown once, and stored only as a digest. */
import { HiveError } from '../domain/errors.ts';
import { createToken, isValid, type Role, type Token, type TokenProject } from '../domain/tokens.ts';
import { watchAdmitted } from './admitted.ts';
import type { Store, WriteTx } from './ports.ts';
import type { Secrets } from './world.ts';

/** A new token with its secret. */
export interface MadeToken {
  token: Token;
  /** Shown now and never again. */
  secret: string;
}

export interface TokenService {
  /** A new token; replaces a revoked one of that name. @throws HiveError `invalid_input`. */
  make(request: {
    name: string;
    agent?: string | undefined;
    role?: Role | undefined;
    projects?: TokenProject[] | undefined;
  }): Promise<MadeToken>;
  /** The same name, agent and role with a new secret; the old one is invalid at once. @throws HiveError `token_not_found`. */
  rotate(name: string): Promise<MadeToken>;
  /** Makes it invalid at once. @throws HiveError `token_not_found`. */
  revoke(name: string): Promise<Token>;
  list(): Promise<Token[]>;
  /** The token with this secret; undefined when it is unknown or revoked. */
  verify(secret: string): Promise<Token | undefined>;
  /** Whether this token still admits calls with the secret that it was verified with. */
  holds(token: Token): Promise<boolean>;
  /** Calls `listener` with the digests of all valid tokens when something may have changed, until the returned function is called. */
  watch(listener: (valid: ReadonlySet<string>) => void): () => void;
}

export function createTokens(store: Store, secrets: Secrets): TokenService {
  async function withSecret(
    what: 'made' | 'rotated',
    change: (tx: WriteTx, digest: string) => Promise<Token>,
  ): Promise<MadeToken> {
    const secret = secrets.make();
    const token = await store.write(async (tx) => {
      const changed = await change(tx, secrets.digest(secret));
      await record(tx, changed, what);
      return changed;
    });
    return { secret, token };
  }

  return {
    make: ({ name, agent = name, role = 'agent', projects = [] }) =>
      withSecret('made', async (tx, digest) => {
        const known = await tx.tokens.get(name);
        if (known !== undefined && isValid(known)) {
          throw new HiveError(
            'invalid_input',
            `There is a token "${name}" already: rotate it, or choose another name.`,
          );
        }
        return createToken({ name, digest, agent, role, projects }, tx.now);
      }),

    rotate: (name) =>
      withSecret('rotated', async (tx, digest) => {
        const known = await tx.tokens.get(name);
        if (known === undefined) throw notFound(name);
        if (!isValid(known))
          throw new HiveError(
            'token_not_found',
            `The token "${name}" was revoked. Make another of this name with: hive token make ${name}`,
          );
        return createToken({ ...known, digest }, tx.now);
      }),

    revoke: (name) =>
      store.write(async (tx) => {
        const known = await tx.tokens.get(name);
        if (known === undefined) throw notFound(name);
        const revoked = { ...known, revoked_at: known.revoked_at ?? tx.now };
        await record(tx, revoked, 'revoked');
        return revoked;
      }),

    list: () => store.read((tx) => tx.tokens.list()),

    async verify(secret) {
      const digest = secrets.digest(secret);
      const token = await store.read((tx) => tx.tokens.byDigest(digest));
      // The lookup compares digests of random secrets, so its duration reveals nothing about a secret.
      return token !== undefined && isValid(token) && secrets.equal(token.digest, digest) ? token : undefined;
    },

    async holds({ name, digest }) {
      const token = await store.read((tx) => tx.tokens.get(name));
      return token !== undefined && isValid(token) && secrets.equal(token.digest, digest);
    },

    watch: (listener) =>
      watchAdmitted(
        store,
        async (tx) => new Set((await tx.tokens.list()).filter(isValid).map(({ digest }) => digest)),
        listener,
      ),
  };
}

/** Stores a token and announces it: whoever serves it ends what it had admitted before. */
async function record(tx: WriteTx, token: Token, change: 'made' | 'rotated' | 'revoked'): Promise<void> {
  await tx.tokens.put(token);
  const { name, agent, role, projects } = token;
  const data = { change, agent, role, projects };
  await tx.events.append({ type: 'token/changed', session_id: null, subject: name, data });
}

function notFound(name: string): HiveError {
  return new HiveError('token_not_found', `There is no token "${name}". See them with: hive token list`);
}
