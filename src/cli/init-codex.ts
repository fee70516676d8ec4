/** Codex: its server, its hooks, and the trust without which it skips them silently. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { Role } from '../domain/tokens.ts';
import { hookPart } from '../infrastructure/installation/claude.ts';
import { codexConfig, codexRole, isForeign, trustIn, trustOf } from '../infrastructure/installation/codex.ts';
import { createInstaller, readText } from '../infrastructure/installation/files.ts';
import { naming, type Part, planInit } from '../infrastructure/installation/parts.ts';
import { codexPlaces } from '../infrastructure/installation/places.ts';
import type { TomlTable } from '../infrastructure/installation/toml-edits.ts';
import { openHive } from '../open-hive.ts';
import { findCaller } from './caller.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { print, remark } from './output.ts';
import { thisProgram } from './program.ts';
import { ask, type SetUpOptions } from './set-up.ts';

/**
 * Trust that was given stays as long as it is for these very hooks, and the role unless another is wanted.
 * @throws HiveError `invalid_input` for a role in a server's table that is not ours to change.
 */
export function codexParts(role?: Role): Part[] {
  const { config, hooks } = codexPlaces(process.env);
  const now = naming({ path: config }, () => readText(config) ?? '');
  const kept = naming({ path: config }, () => codexRole(now));
  if (role !== undefined && role !== kept && isForeign(now))
    throw invalidInput(
      `${config} has a server of its own that starts Hive, which Hive does not change. Give it the role there: args = ["mcp", "--role", "${role}"].`,
    );
  const part = hookPart('codex', hooks, thisProgram());
  const text = readText(hooks);
  const change = planInit(part, text, createInstaller(process.env).receiptOf(hooks));
  const tables = trustTables(change?.after ?? text ?? '{}');
  const trust = naming({ path: config }, () => trustIn(now, tables));
  return [codexConfig(config, thisProgram(), trust, role ?? kept), part];
}

/** Asks whether Codex may run the hooks that are there now. Only a person at a terminal can say so. */
export async function offerTrust(options: SetUpOptions): Promise<ExitCode> {
  const { config, hooks } = codexPlaces(process.env);
  const text = readText(config) ?? '';
  if (options.print === true) return EXIT.done;
  if (isForeign(text)) remark(`${config} has a server of its own that starts Hive: it stays as it is.`);
  const tables = trustTables(readText(hooks) ?? '{}');
  if (trustIn(text, tables).length === tables.length) return EXIT.done;
  const missing = await noPersonBecause(options);
  if (missing !== null) {
    remark(
      `Codex skips these hooks silently until you trust them: run hive init codex in a terminal, or look at /hooks in Codex (${missing}).`,
    );
    return EXIT.done;
  }
  print(
    `Codex skips hooks that nobody has trusted. These ${tables.length} run "hive hook" at each step of every session, with all your rights.`,
  );
  if ((await ask('Trust them? Type yes to write that into config.toml: ')) !== 'yes') {
    remark('Not trusted: Codex will skip the hooks until you trust them there with /hooks, or here.');
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const part = codexConfig(config, thisProgram(), tables, codexRole(text));
  const change = planInit(part, readText(config), installer.receiptOf(config));
  if (change !== null && !installer.write(change))
    throw new HiveError('invalid_input', `${config} has changed meanwhile: run this again.`);
  print('Trusted.');
  return EXIT.done;
}

/** Codex knows its folder by its real path. */
function trustTables(text: string): TomlTable[] {
  const { hooks } = codexPlaces(process.env);
  const folder = dirname(hooks);
  return trustOf(existsSync(folder) ? join(realpathSync(folder), basename(hooks)) : hooks, text);
}

async function noPersonBecause({ json }: SetUpOptions): Promise<string | null> {
  if (json === true || !process.stdin.isTTY || !process.stdout.isTTY) return 'there is no terminal to ask at';
  const hive = await openHive();
  try {
    return (await findCaller(hive)).agent_because;
  } finally {
    await hive.close();
  }
}
