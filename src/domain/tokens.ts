/** Tokens: which remote agent may connect, under which name, and with which role (extensions/serve/tokens.ts). The secret itself is never stored. */

/** The role of a caller. A coordinator sees and answers other agents' questions, but never permissions. */
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
  /** The projects of this machine that it takes part in. Others that its agents name are its own. */
  projects: TokenProject[];
  created_at: string;
  revoked_at: string | null;
}

/** A project as `findProject` describes it. */
export interface TokenProject {
  project: string;
  project_dir: string;
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
