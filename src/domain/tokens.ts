/** Tokens: what lets a remote agent in, as whom, and with which role. Pure; the secret itself is never kept. */
import { invalidInput } from './errors.ts';

/** What a caller may do: a coordinator sees and answers other agents' questions, but never permissions. */
export type Role = 'agent' | 'coordinator';

export interface Token {
  /** What people call it: one machine, one container, one person. */
  name: string;
  /** SHA-256 of the secret, in hexadecimal. */
  digest: string;
  /** The session that calls with it: fixed by whoever made the token, never by the caller. */
  agent: string;
  role: Role;
  created_at: string;
  revoked_at: string | null;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @throws HiveError `invalid_input` for a name or agent that is no plain word. */
export function createToken(
  { name, digest, agent, role }: Pick<Token, 'name' | 'digest' | 'agent' | 'role'>,
  now: string,
): Token {
  for (const [what, word] of [
    ['name', name],
    ['agent', agent],
  ] as const) {
    if (!NAME.test(word))
      throw invalidInput(
        `The ${what} "${word}" of a token is no plain word: letters, digits, ".", "_", "-", at most 64.`,
      );
  }
  return { name, digest, agent, role, created_at: now, revoked_at: null };
}

/** A token that is revoked lets nobody in; what it let in before is the caller's to end. */
export function isValid(token: Token): boolean {
  return token.revoked_at === null;
}
