/** Where a Codex daemon listens. By itself, since a hook asks for it and must load nothing for that. */

/** `$CODEX_HOME/app-server-control/app-server-control.sock`, by default under ~/.codex; null without a home. */
export function codexSocket(env: Readonly<Record<string, string | undefined>>): string | null {
  const home = env['CODEX_HOME'] ?? (env['HOME'] === undefined ? null : `${env['HOME']}/.codex`);
  return home === null ? null : `${home}/app-server-control/app-server-control.sock`;
}
