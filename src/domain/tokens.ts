/** Tokens: which remote agent may connect, under which name, and with which role. Pure. The secret itself is never stored. */
import { invalidInput } from './errors.ts';

/** What a caller may do. A coordinator sees and answers other agents' questions, but never permissions. */
export type Role = 'agent' | 'coordinator';

/** A token, without its secret. */
export interface Token {
  /** The name people give it: one machine, one container, one person. */
  name: string;
  /** SHA-256 of the secret, in hexadecimal. */
  digest: string;
  /** The session that calls with it: set by whoever made the token, never by the caller. */
  agent: string;
  role: Role;
  created_at: string;
  revoked_at: string | null;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A new token. @throws HiveError `invalid_input` for a name or agent with characters that are not allowed. */
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
        `The ${what} "${word}" of a token is not valid: use letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit.`,
      );
  }
  return { name, digest, agent, role, created_at: now, revoked_at: null };
}

/** Whether a token still admits new calls. The caller must end sessions that a revoked token admitted before. */
export function isValid(token: Token): boolean {
  return token.revoked_at === null;
}

/** Whether plain http with this host stays on this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d+){3}$/.test(name)
  );
}

/** Whether a token sent to this address could be read on its way. */
export function isReadableByOthers({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname);
}
