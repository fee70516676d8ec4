/**
 * The commands of runs, in files of the human's own (0600, in a folder that is 0700), and their processes. The store
 * holds only the digest of a file, so that nobody can start anything by writing the store. Nor can somebody who can also write
 * those files, because each is marked with a key that is next to trust.json. So is each row of a run
 * (infrastructure/store/runs.ts). The starts are counted here, so that an earlier row cannot be put back.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import { makeFolders, replaceDurably } from '../../infrastructure/platform/files.ts';
import { readPrivately } from '../../infrastructure/platform/human-file.ts';
import { stateDirectory } from '../../infrastructure/platform/paths.ts';
import { markOf } from '../../infrastructure/platform/run-marks.ts';
import { runsSecret } from '../../infrastructure/platform/seat-file.ts';
import type { RunCommand } from './run.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The command of a run, exactly as its human started it first. */
export interface StartRecord extends RunCommand {
  run_id: string;
  /** The directory in which the agent works. */
  dir: string;
  env: Readonly<Record<string, string>>;
  /** Variables that look like secrets: each start takes them from the process that starts it. */
  left_out: readonly string[];
}

/** An agent that was started. */
export interface StartedAgent {
  pid: number;
  /** Its exit code; null if a signal ended it. */
  ended: Promise<number | null>;
}

export type RunFiles = ReturnType<typeof createRunFiles>;

/**
 * The files of a person's runs, which nobody else can write, and the processes that they start. `env` is the environment of this
 * process: it determines where the files are, and has the secrets that no file keeps.
 */
export function createRunFiles(env: Environment) {
  const folder = join(stateDirectory(env), 'runs');
  const file = (run_id: string, kind: string): string => {
    if (!/^run-[0-9a-z]+$/.test(run_id))
      throw new HiveError('internal', `"${run_id}" is not the id of a run.`);
    return join(folder, `${run_id}.${kind}`);
  };

  return {
    /** Stores the command of a run; returns the digest of the file. */
    keep(record: StartRecord): string {
      makeFolders(folder);
      const text = marked(`${JSON.stringify(record, null, 2)}\n`, runsSecret(env));
      const path = file(record.run_id, 'json');
      replaceDurably(path, text);
      return digestOf(text);
    },

    /** The command of a run. @throws HiveError `store_unsafe` if the file is missing, changed, or open to others. */
    read(run_id: string, digest: string): StartRecord {
      const path = file(run_id, 'json');
      const { text, problems } = readPrivately(path);
      if (problems.length > 0) throw new HiveError('store_unsafe', problems.join(' '));
      if (text === null)
        throw new HiveError('store_unsafe', `${path} is missing, and only that file says what to start.`);
      if (digestOf(text) !== digest)
        throw new HiveError(
          'store_unsafe',
          `${path} was changed after the run had begun: it is not started.`,
        );
      const record = unmarked(text, runsSecret(env));
      const kept = record === null ? null : (JSON.parse(record) as StartRecord);
      if (kept?.run_id !== run_id)
        throw new HiveError(
          'store_unsafe',
          `${path} was not written by hive run of this person: it is not started.`,
        );
      return kept;
    },

    /**
     * Records durably that this start of a run begins. @throws HiveError `store_unsafe` if this start or a later one has begun
     * before: then somebody has put an earlier row of the run back into the store.
     */
    count(run_id: string, start: number): void {
      const path = file(run_id, 'starts');
      const { text } = readPrivately(path);
      if (Number(text ?? 0) >= start)
        throw new HiveError(
          'store_unsafe',
          `Start ${start} of ${run_id} has begun before. Somebody has put an earlier row of it back into the store: it is not started again.`,
        );
      makeFolders(folder);
      replaceDurably(path, `${start}\n`);
    },

    /** Starts the agent. Its output goes to a file, so it outlives the process that started it. */
    async start(
      record: StartRecord,
      args: readonly string[],
      extra: Readonly<Record<string, string>>,
    ): Promise<StartedAgent> {
      const { spawn } = process.getBuiltinModule('node:child_process');
      const out = openSync(file(record.run_id, 'out'), 'a', 0o600);
      const err = openSync(file(record.run_id, 'err'), 'a', 0o600);
      try {
        const secrets = Object.fromEntries(record.left_out.map((name) => [name, env[name]]));
        const agent = spawn(record.program, [...args], {
          cwd: record.dir,
          env: { ...secrets, ...extra },
          stdio: ['ignore', out, err],
          // The agent must outlive this process, and the signals of its terminal.
          detached: true,
        });
        const ended = new Promise<number | null>((resolve) => agent.once('exit', (code) => resolve(code)));
        await new Promise<void>((resolve, reject) => {
          agent.once('spawn', resolve);
          agent.once('error', (error) =>
            reject(new HiveError('invalid_input', whyNotStarted(record, error))),
          );
        });
        return { pid: agent.pid ?? 0, ended };
      } finally {
        closeSync(out);
        closeSync(err);
      }
    },

    /** Removes the file of the command once the run is over; the output stays. */
    forget(run_id: string): void {
      for (const kind of ['json', 'starts']) rmSync(file(run_id, kind), { force: true });
    },

    /** The path of the file with a run's output, or with its stderr. */
    output: (run_id: string, stream: 'out' | 'err' = 'out'): string => file(run_id, stream),
  };
}

/** The system reports a missing directory as a missing program. */
function whyNotStarted({ program, dir }: StartRecord, error: Error): string {
  if (existsSync(`${dir}/.`))
    return `${program} could not be started (${error.message}). Check that it is installed, or give its path.`;
  return `${program} could not be started: there is no directory ${dir} that you may enter. Make it, or name another one.`;
}

const MARK = 'hmac-sha256 ';

/** A text with a last line that only a holder of the key can write. */
function marked(text: string, key: string): string {
  return `${text}${MARK}${markOf(text, key)}\n`;
}

/** The text without that line; null if the line is missing or wrong. */
function unmarked(text: string, key: string): string | null {
  const at = text.lastIndexOf(MARK);
  if (at === -1) return null;
  const record = text.slice(0, at);
  const given = Buffer.from(text.slice(at));
  const right = Buffer.from(marked(record, key).slice(at));
  const { timingSafeEqual } = process.getBuiltinModule('node:crypto');
  return given.length === right.length && timingSafeEqual(given, right) ? record : null;
}

function digestOf(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text);
}

// ---- The part of an environment that is kept ----

/** Names of variables that usually contain a secret. */
const SECRET = /TOKEN|SECRET|PASSW|CREDENTIAL|_KEY$|^KEY$|API_?KEY|AUTH$|COOKIE/i;

/** The environment that a file keeps, and the names of left-out variables. `named` ones are kept although they look secret. */
export function environmentToKeep(
  env: Environment,
  named: readonly string[],
): { env: Record<string, string>; left_out: string[] } {
  const kept: Record<string, string> = {};
  const left_out: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (SECRET.test(name) && !named.includes(name)) left_out.push(name);
    else kept[name] = value;
  }
  return { env: kept, left_out };
}
