/** `hive team`: the humans whom a question to a team reaches. An agent may only list them. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { refuseAgents } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { duration, type Format, parseDuration, print, printJson, printRows, remark } from './output.ts';
import { withHive } from './program.ts';

interface SetOptions extends Format {
  escalateAfter?: string;
}

export function defineTeam(command: Command): void {
  command
    .command('list')
    .description('List the teams')
    .option('--json', 'print JSON')
    .action((options: Format) => withHive(options, (hive) => list(hive, options)));
  command
    .command('set <name> <member...>')
    .description('Make a team, or replace it')
    .option('--escalate-after <duration>', 'ask everybody if the team has not answered by then')
    .option('--json', 'print JSON')
    .action((name: string, members: string[], options: SetOptions) =>
      withHive(options, (hive) => set(hive, name, members, options)),
    );
  command
    .command('remove <name>')
    .description('Remove a team; its questions stay with its members')
    .option('--json', 'print JSON')
    .action((name: string, options: Format) => withHive(options, (hive) => remove(hive, name, options)));
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
  { escalateAfter, json }: SetOptions,
): Promise<ExitCode> {
  await refuseAgents(hive, 'change teams');
  const escalate_after_ms = escalateAfter === undefined ? null : parseDuration(escalateAfter);
  const team = await hive.humans.setTeam({ name, members, escalate_after_ms });
  if (json === true) printJson({ team });
  else {
    const escalates = escalation(team.escalate_after_ms);
    print(`${team.name}: ${team.members.join(', ')}${escalates === '' ? '' : `, ${escalates}`}`);
  }
  return EXIT.done;
}

async function remove(hive: Hive, name: string, { json }: Format): Promise<ExitCode> {
  await refuseAgents(hive, 'change teams');
  await hive.humans.removeTeam(name);
  if (json === true) printJson({ removed: name });
  else print(`Removed ${name}.`);
  return EXIT.done;
}
