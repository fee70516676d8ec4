/** `hive token`: the tokens for access to this hive over HTTP. Refused under an agent: only a human gives out tokens. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import type { Hive } from '../../application/hive.ts';
import { humanCommands } from '../../cli/actor.ts';
import { EXIT, type ExitCode } from '../../cli/exit-codes.ts';
import { type Format, moment, print, printJson, printRows, remark } from '../../cli/output.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import type { Role } from '../../domain/tokens.ts';
import { readFileOnly, replaceDurably } from '../../infrastructure/platform/files.ts';
import { stateDirectory, storeAddress } from '../../infrastructure/platform/paths.ts';
import { type MadeToken, tokensOf } from './tokens.ts';

interface MakeOptions extends Format {
  agent?: string;
  role?: Role;
  project?: string[];
}

export function defineToken(command: Command): void {
  const define = humanCommands(command, 'read or change tokens');
  define('show', 'Print the token that hive serve made', show);
  define('list', 'List the tokens, without their secrets', list);
  define('make <name>', 'Make a token', async (hive, name: string, options: MakeOptions) =>
    printToken(
      await tokensOf(hive).make({
        name,
        agent: options.agent,
        role: options.role,
        projects: options.project?.map((directory) => {
          if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
            throw invalidInput(`--project ${directory} is not a directory. No token was made.`);
          const { project, project_dir } = hive.findProject(directory);
          return { project, project_dir };
        }),
      }),
      options,
    ),
  )
    .option('--agent <agent>', 'the session it calls as; default: its name')
    .addOption(
      new Option('--role <role>', 'what its agents may do')
        .choices(['agent', 'coordinator'])
        .default('agent'),
    )
    .option('--project <directory...>', 'a project of this machine that it takes part in');
  define(
    'rotate <name>',
    'Make a new secret; the old one stops working at once',
    async (hive, name: string, options: Format) => printToken(await tokensOf(hive).rotate(name), options),
  );
  define('revoke <name>', 'Stop accepting this token', async (hive, name: string, { json }: Format) => {
    const { revoked_at } = await tokensOf(hive).revoke(name);
    if (json === true) printJson({ name, revoked_at });
    else print(`Revoked ${name} at ${moment(revoked_at ?? '')}. It no longer gives access.`);
    return EXIT.done;
  });
}

async function show(_hive: Hive, { json }: Format): Promise<ExitCode> {
  const secret = readTokenFile(process.env);
  if (secret === null)
    throw new HiveError(
      'token_not_found',
      `There is no token in ${tokenFile(process.env)}. hive serve makes one when it starts, or make one with: hive token make default`,
    );
  if (json === true) printJson({ name: FIRST_TOKEN, secret });
  else print(secret);
  return EXIT.done;
}

async function list(hive: Hive, { json }: Format): Promise<ExitCode> {
  const tokens = (await tokensOf(hive).list()).map(({ digest: _, ...token }) => token);
  if (json === true) printJson({ tokens });
  else if (tokens.length === 0)
    remark(
      'There are no tokens. hive serve makes one when it starts, or make one with: hive token make NAME',
    );
  else
    printRows([
      ['TOKEN', 'AGENT', 'ROLE', 'PROJECTS', 'MADE', 'STATE'],
      ...tokens.map(({ name, agent, role, projects, created_at, revoked_at }) => [
        name,
        agent,
        role,
        projects.map(({ project }) => project).join(', ') || '-',
        moment(created_at),
        revoked_at === null ? 'valid' : `revoked ${moment(revoked_at)}`,
      ]),
    ]);
  return EXIT.done;
}

function printToken({ token, secret }: MadeToken, { json }: Format): ExitCode {
  // The file always holds the current secret of the first token.
  if (token.name === FIRST_TOKEN) writeTokenFile(process.env, secret);
  if (json === true) printJson({ name: token.name, agent: token.agent, role: token.role, secret });
  else print(secret);
  return EXIT.done;
}

// ---- The file of the first token ----
// `hive serve` writes the token that it makes on its first start into this file (0600, next to the store), so that the
// person can look it up.

/** The token that `hive serve` makes when there is none. */
export const FIRST_TOKEN = 'default';

export function tokenFile(env: NodeJS.ProcessEnv): string {
  const store = storeAddress(env);
  return join(store.includes('://') ? stateDirectory(env) : dirname(store), 'token');
}

/** A new file replaces whatever was there, regardless of its mode, and is either complete or missing. */
export function writeTokenFile(env: NodeJS.ProcessEnv, secret: string): string {
  const path = tokenFile(env);
  replaceDurably(path, `${secret}\n`);
  return path;
}

/** The secret in the file; null if there is none. @throws HiveError `token_not_found` for an empty file. */
function readTokenFile(env: NodeJS.ProcessEnv): string | null {
  const path = tokenFile(env);
  if (!existsSync(path)) return null;
  const secret = readFileOnly(path).trim();
  if (secret === '')
    throw new HiveError(
      'token_not_found',
      `The token file ${path} is empty. Make a new secret with: hive token rotate default`,
    );
  return secret;
}
