/** Recorded hook events of the real clients, replayed into a hive as `hive hook` would. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseEvent, sayVerdict } from '../../src/adapters/hooks/hook.ts';
import type { HookSurroundings } from '../../src/application/hook-context.ts';
import type { HookTool } from '../../src/domain/hooks.ts';
import { readTrust } from '../../src/domain/trust.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from './children.ts';
import { measuredEditTools } from './edit-tools.ts';
import { ENDED } from './ended-process.ts';
import { SEAT } from './hive.ts';

type Raw = Record<string, unknown>;

/** The stdins of a recorded sequence, in order. */
export function recordedSequence(file: string): Raw[] {
  const lines = readFileSync(join(ROOT, 'test/wire/fixtures', file), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line): Raw[] => {
    const { stdin } = JSON.parse(line) as { stdin?: Raw };
    return stdin === undefined ? [] : [stdin];
  });
}

/** One recorded event. */
export function recordedEvent(file: string): Raw {
  return JSON.parse(readFileSync(join(ROOT, 'test/wire/fixtures', file), 'utf8')) as Raw;
}

/** A call of a tool, of which its client says no more. */
export function callOf(name: string, input: Record<string, unknown>): HookTool {
  return { name, input, use_id: null, response: null, own: null };
}

/** The replayed client; by default the recorded Claude Code, whose process has ended. */
export interface Client {
  client?: 'claude-code' | 'codex';
  env?: Record<string, string>;
  surroundings?: Partial<HookSurroundings>;
}

/** The surroundings of a hook whose human has written these rules; it runs in `cwd`, where no file is a link. */
export function withRules(...permission_rules: object[]): { surroundings: Partial<HookSurroundings> } {
  return withTrust(JSON.stringify({ permission_rules }));
}

/** The same for a file with this text. */
export function withTrust(text: string): { surroundings: Partial<HookSurroundings> } {
  const trust = readTrust({ path: '/home/ada/.config/hive/trust.json', text, problems: [], digest: text });
  return {
    surroundings: {
      seat: 'ada@test',
      human: async (cwd) => ({ trust, place: { cwd, resolve: (path) => posix.resolve(cwd, path) } }),
    },
  };
}
/** The ancestors of this process, where the tests run. */
const ABOVE = processes.ancestors(process.pid);

/** Fires one hook event and returns exactly what would be printed. */
export async function fire(
  hive: OpenedHive,
  raw: Raw,
  { client = 'claude-code', env = {}, surroundings = {} }: Client = {},
): Promise<string> {
  const environment = client === 'claude-code' ? { CLAUDE_PID: String(ENDED), ...env } : env;
  const event = parseEvent(JSON.stringify(raw), environment, client);
  const verdict = await hive.hooks.handle(event, {
    env: environment,
    machine: 'test',
    pid: process.pid,
    // A recorded client counts as an ancestor of its hooks, as the real one was.
    above: [...('CLAUDE_PID' in environment ? [Number(environment['CLAUDE_PID'])] : []), ...ABOVE],
    findProject: () => ({ project: 'demo', project_dir: '/demo/.git', branch: null }),
    readTail: () => null,
    editTools: async (cwd) => measuredEditTools(cwd),
    seat: SEAT.name,
    seats: () => [SEAT],
    ...surroundings,
  });
  const printed = sayVerdict(event, verdict);
  await hive.hooks.printed(verdict);
  return printed;
}

/** The output as JSON; null if there was none. */
export function said(
  printed: string,
): { hookSpecificOutput?: Record<string, string>; [field: string]: unknown } | null {
  return printed === '' ? null : JSON.parse(printed);
}

/** The sentence that holds a Stop, as each client is told it; null if it is not held. */
export function heldWith(printed: string): string | null {
  const output = said(printed);
  const text = output?.hookSpecificOutput?.['additionalContext'] ?? output?.['reason'];
  return typeof text === 'string' ? text : null;
}
