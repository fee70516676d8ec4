/**
 * Tokens: which remote agents may connect, under which name, and with which role (extensions/serve/tokens.ts). The secret is
 * not stored.
 */

/** The role of a caller. A coordinator sees and answers other agents' questions, but never permissions. */
export type Role = 'agent' | 'coordinator';

/** A token, without its secret. */
export interface Token {
  /** The name that people give it, for one machine, one container or one person. */
  name: string;
  /** SHA-256 of the secret, in hexadecimal. */
  digest: string;
  /** The session that calls with it, set when the token was made, never by the caller. */
  agent: string;
  role: Role;
  /** The projects of this machine that its agents share. Other projects that they name are separate. */
  projects: TokenProject[];
  created_at: string;
  revoked_at: string | null;
}

/** A project as `findProject` describes it. */
export interface TokenProject {
  project: string;
  project_dir: string;
}

/** Whether plain HTTP to this host stays on this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d+){3}$/.test(name)
  );
}

/** Whether others could read a token that is sent to this address. */
export function isReadableByOthers({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname);
}
