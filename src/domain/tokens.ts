/** Tokens: which remote agent may connect, under which name, and with which role. Pure. The secret itself is never stored. */
import { invalidInput } from './errors.ts';

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

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A new token. @throws HiveError `invalid_input` for a name or agent with characters that are not allowed. */
export function createToken(
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
 * The project of a remote agent: the listed one of that name, else one that only this token has. A directory that it
 * names is on its own machine and gives no access to the project of that directory here.
 */
export function projectOfToken<Project extends TokenProject>(token: Token, given: Project): Project {
  const listed = token.projects.find(({ project }) => project === given.project);
  return { ...given, project_dir: listed?.project_dir ?? `${machineOf(token)}:${given.project_dir}` };
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
