/** Tokens for agents that connect over HTTP: generated once, shown once, and stored only as a digest. */

import { watchAdmitted } from '../../application/feed.ts';
import { oncePerHive } from '../../application/hive.ts';
import type { Store, WriteTx } from '../../application/ports.ts';
import { endSession } from '../../application/sessions.ts';
import type { Logger, Secrets } from '../../application/world.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { remoteId } from '../../domain/sessions.ts';
import type { Role, Token, TokenProject } from '../../domain/tokens.ts';
import { randomSecrets } from '../../infrastructure/platform/ids.ts';

/** A new token with its secret. */
export interface MadeToken {
  token: Token;
  /** Shown now and never again. */
  secret: string;
}

/** The tokens of a hive. */
export const tokensOf = oncePerHive(({ parts, log }) => createTokens(parts.store, log, randomSecrets));

function createTokens(store: Store, log: Logger, secrets: Secrets) {
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
    /** A new token; replaces a revoked one of that name. @throws HiveError `invalid_input`. */
    make: ({
      name,
      agent = name,
      role = 'agent',
      projects = [],
    }: {
      name: string;
      agent?: string | undefined;
      role?: Role | undefined;
      projects?: TokenProject[] | undefined;
    }): Promise<MadeToken> =>
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

    /** Gives the token a new secret; the old one is invalid at once. @throws HiveError `token_not_found`. */
    rotate: (name: string): Promise<MadeToken> =>
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

    /** Makes the token invalid at once, and ends its sessions. @throws HiveError `token_not_found`. */
    revoke: (name: string): Promise<Token> =>
      store.write(async (tx) => {
        const known = await tx.tokens.get(name);
        if (known === undefined) throw notFound(name);
        const revoked = { ...known, revoked_at: known.revoked_at ?? tx.now };
        await record(tx, revoked, 'revoked');
        // Nothing that they do can be reported any more.
        for (const { session_id } of await tx.sessions.titles()) {
          const own = session_id.startsWith(remoteId(machineOf(revoked), ''));
          const session = own ? await tx.sessions.get(session_id) : undefined;
          if (session !== undefined) await endSession(tx, session);
        }
        return revoked;
      }),

    list: (): Promise<Token[]> => store.read((tx) => tx.tokens.list()),

    /** The token with this secret; undefined when it is unknown or revoked. */
    async verify(secret: string): Promise<Token | undefined> {
      const digest = secrets.digest(secret);
      const token = await store.read((tx) => tx.tokens.byDigest(digest));
      // The lookup compares digests of random secrets, so its duration reveals nothing about a secret.
      return token !== undefined && isValid(token) && secrets.equal(token.digest, digest) ? token : undefined;
    },

    /** Whether this token still admits calls with the secret that it was verified with. */
    async holds({ name, digest }: Token): Promise<boolean> {
      const token = await store.read((tx) => tx.tokens.get(name));
      return token !== undefined && isValid(token) && secrets.equal(token.digest, digest);
    },

    /** Calls `listener` with the digests of all valid tokens when they may have changed, until the returned function is called. */
    watch: (listener: (valid: ReadonlySet<string>) => void): (() => void) =>
      watchAdmitted(
        store,
        log,
        async (tx) => new Set((await tx.tokens.list()).filter(isValid).map(({ digest }) => digest)),
        listener,
      ),
  };
}

/** Stores a token and announces it, so that processes that serve it end everything that it had admitted. */
async function record(tx: WriteTx, token: Token, change: 'made' | 'rotated' | 'revoked'): Promise<void> {
  await tx.tokens.put(token);
  const { name, agent, role, projects } = token;
  const data = { change, agent, role, projects };
  await tx.events.append({ type: 'token/changed', subject: name, data });
}

function notFound(name: string): HiveError {
  return new HiveError('token_not_found', `There is no token "${name}". See them with: hive token list`);
}

// ---- One token ----

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A new token. @throws HiveError `invalid_input` for a name or agent with characters that are not allowed. */
function createToken(
  { name, digest, agent, role, projects }: Pick<Token, 'name' | 'digest' | 'agent' | 'role' | 'projects'>,
  now: string,
): Token {
  for (const [what, word] of [
    ['name', name],
    ['agent', agent],
  ] as const) {
    if (!NAME.test(word))
      throw invalidInput(
        `The ${what} "${word}" of a token is not valid: use letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit.`,
      );
  }
  return { name, digest, agent, role, projects, created_at: now, revoked_at: null };
}

/** The machine of the sessions that a token admits. */
export function machineOf({ name }: Pick<Token, 'name'>): string {
  return `token:${name}`;
}

/**
 * The project of a remote agent: the listed one of that name, otherwise one that only this token has. A directory that it
 * names is on its own machine and gives no access to the project of that directory here.
 */
export function projectOfToken<Project extends TokenProject>(token: Token, given: Project): Project {
  const listed = token.projects.find(({ project }) => project === given.project);
  return { ...given, project_dir: listed?.project_dir ?? `${machineOf(token)}:${given.project_dir}` };
}

/** Whether a token still admits new calls. The caller must end sessions that a revoked token admitted before. */
function isValid(token: Token): boolean {
  return token.revoked_at === null;
}
