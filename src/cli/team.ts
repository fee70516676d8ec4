/** `hive team`: the humans whom a question to a team reaches. An agent may only list them. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { humanCommands } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { duration, type Format, parsePeriod, print, printJson, printRows, remark } from './output.ts';
import { perform } from './program.ts';

export function defineTeam(command: Command): void {
  perform(command.command('list'), list).description('List the teams');
  const define = humanCommands(command, 'change teams');
  define('set <name> <member...>', 'Make a team, or replace it', set).option(
    '--escalate-after <duration>',
    'ask everybody if the team has not answered by then',
  );
  define('remove <name>', 'Remove a team; its questions stay with its members', remove);
}

async function list(hive: Hive, { json }: Format): Promise<ExitCode> {
  const teams = await hive.humans.teams();
  if (json === true) printJson({ teams });
  else if (teams.length === 0) remark('There are no teams. Make one with: hive team set NAME MEMBER…');
  else
    printRows(
      teams.map(({ name, members, escalate_after_ms }) => [
        name,
        members.join(', '),
        escalation(escalate_after_ms),
      ]),
    );
  return EXIT.done;
}

function escalation(ms: number | null): string {
  return ms === null ? '' : `escalates to everybody after ${duration(ms)}`;
}

async function set(
  hive: Hive,
  name: string,
  members: string[],
  { escalateAfter, json }: Format & { escalateAfter?: string },
): Promise<ExitCode> {
  const escalate_after_ms = parsePeriod('--escalate-after', escalateAfter, 'changed') ?? null;
  const team = await hive.humans.setTeam({ name, members, escalate_after_ms });
  if (json === true) printJson({ team });
  else {
    const escalates = escalation(team.escalate_after_ms);
    print(`${team.name}: ${team.members.join(', ')}${escalates === '' ? '' : `, ${escalates}`}`);
  }
  return EXIT.done;
}

async function remove(hive: Hive, name: string, { json }: Format): Promise<ExitCode> {
  await hive.humans.removeTeam(name);
  if (json === true) printJson({ removed: name });
  else print(`Removed ${name}.`);
  return EXIT.done;
}
