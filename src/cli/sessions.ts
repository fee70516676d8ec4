/** `hive sessions`: who is here, with the handles by which they are mentioned. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Session } from '../domain/sessions.ts';
import { age, type Format, printJson, printRows, remark } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface SessionsOptions extends Format {
  ended?: boolean;
}

const LIMIT = 500;

export function defineSessions(command: Command): void {
  command
    .option('--ended', 'also those that have ended')
    .option('--json', 'print JSON')
    .action((options: SessionsOptions) => withHive(options, (hive) => sessions(hive, options)));
}

async function sessions(hive: Hive, { ended, json }: SessionsOptions): Promise<ExitCode> {
  const found = await hive.sessions.list({ state: ended === true ? undefined : 'alive', limit: LIMIT });
  const waiting = await hive.mentions.unprocessedBySession();
  const unprocessed = (session: Session): number => waiting.get(session.session_id) ?? 0;
  if (json === true) {
    const listed = found.map((session) => ({ ...session, unprocessed_mentions: unprocessed(session) }));
    printJson({ sessions: listed });
    return EXIT.done;
  }
  if (found.length === 0) {
    remark('Nobody is here.');
    return EXIT.done;
  }
  printRows([
    ['HANDLE', 'STATE', 'SEEN', 'SOURCE', 'MENTIONS', 'ROLES', 'CLIENT', 'PROJECT'],
    ...found.map((session) => [
      session.handle,
      session.state,
      age(session.last_seen_at),
      session.source,
      session.shared ? String(unprocessed(session)) : 'off',
      session.roles.join(', ') || '-',
      session.client,
      session.branch === null ? session.project : `${session.project} (${session.branch})`,
    ]),
  ]);
  return EXIT.done;
}
