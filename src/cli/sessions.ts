/** `hive sessions`: lists the sessions with the handles by which they are mentioned; `set` changes the settings of one. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { invalidInput } from '../domain/errors.ts';
import { didYouMean, nearestNames } from '../domain/names.ts';
import { REPORT_POLICIES } from '../domain/outreach.ts';
import { GATE_MODES } from '../domain/preferences.ts';
import type { Prompt } from '../domain/prompts.ts';
import { ROOM_MODES, type Session, type SessionChanges } from '../domain/sessions.ts';
import { SOURCES } from '../domain/sources.ts';
import { excerpt } from '../domain/text.ts';
import type { Turn } from '../domain/turns.ts';
import { findActor, findCaller, registerCaller } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { age, doneAsJson, type Format, print, printJson, printRows, remark } from './output.ts';
import { perform } from './program.ts';

const COLUMNS = ['TITLE', 'HANDLE', 'STATE', 'SEEN', 'SOURCE', 'MENTIONS', 'ROLES', 'PROJECT', 'DOING'];

const LIMIT = 500;

export function defineSessions(command: Command): void {
  perform(command, sessions).option('--ended', 'also those that have ended');
  perform(command.command('set'), configure)
    .description('Change the settings of a session; an agent changes its own')
    .usage('[options] [session] <name=value...>')
    .argument('<name=value...>', `first a handle, which an agent leaves out; then ${NAMES}`);
}

type Read = (value: string) => SessionChanges;

const DEFAULT = 'default';
const SWITCH: Readonly<Record<string, boolean>> = { on: true, off: false };

/** The names are those of Emacs (elisp/hive-sessions.el). */
const SETTINGS: Readonly<Record<string, { values: readonly string[]; read: Read }>> = {
  name: { values: [], read: (value) => ({ name: value === '' || value === DEFAULT ? null : value }) },
  shared: { values: ['on', 'off'], read: (value) => ({ shared: SWITCH[value] }) },
  roles: { values: [], read: (value) => ({ roles: value.split(',').filter((role) => role !== '') }) },
  gate: choice('gate', GATE_MODES),
  room: choice('room', ROOM_MODES),
  source: choice('source', SOURCES),
  ping: {
    values: ['on', 'off', DEFAULT],
    read: (value) => ({ allow_ping: value === DEFAULT ? null : SWITCH[value] }),
  },
  reports: choice('report_policy', REPORT_POLICIES),
};

/** The placeholder of a setting that takes any word. */
const EXAMPLES: Readonly<Record<string, string>> = { name: "'Fix the login'", roles: 'ROLE,ROLE…' };

const NAMES = Object.keys(SETTINGS).join(', ');

function choice(field: keyof SessionChanges, values: readonly string[]): { values: string[]; read: Read } {
  return {
    values: [...values, DEFAULT],
    read: (value) => ({ [field]: value === DEFAULT ? null : value }) as SessionChanges,
  };
}

/** @throws HiveError `invalid_input` that names the settings, or the values of one. */
function readSetting(word: string): SessionChanges {
  const at = word.indexOf('=');
  const [name, value] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (setting === undefined) {
    throw invalidInput(
      `There is no setting "${name}".${didYouMean(nearestNames(name, Object.keys(SETTINGS)))} The settings are ${NAMES}. Nothing was changed.`,
    );
  }
  if (at < 0 || (setting.values.length > 0 && !setting.values.includes(value))) {
    const values = setting.values.length > 0 ? setting.values.join('|') : (EXAMPLES[name] ?? '');
    throw invalidInput(`"${word}" is not valid. Write ${name}=${values}. Nothing was changed.`);
  }
  return setting.read(value);
}

async function configure(hive: Hive, words: string[], options: Format): Promise<ExitCode> {
  const caller = await findCaller(hive);
  const [named] = words.filter((word) => !word.includes('='));
  const settings = words[0] === named ? words.slice(1) : words;
  const changes: SessionChanges = Object.assign({}, ...settings.map(readSetting));
  if (settings.length === 0) throw invalidInput(`Name a setting: ${NAMES}. Nothing was changed.`);
  const names = settings.map((word) => word.replace(/=.*/s, ''));
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw invalidInput(`Give ${twice} only once. Nothing was changed.`);
  const isOwn = settings === words;
  if (isOwn && caller.agent_because === null)
    throw invalidInput(`Name a session, for example: hive sessions set Claude-abc12 ${settings.join(' ')}`);
  const which = isOwn ? (await registerCaller(hive, caller)).session_id : String(named);
  const actor = await findActor(hive, { action: "change a session's settings", isOwn: () => true });
  const session = await hive.sessions.configure(which, changes, actor);
  if (options.json === true) printJson({ session });
  else print(`Set for ${session.title}: ${settings.join(' ')}`);
  return EXIT.done;
}

/** In characters: enough to recognize a question in a table. */
const SHOWN_QUESTION = 60;

/** The question that a session waits for, or its turn, and since when; empty if it is idle. */
function inWords(prompt: Prompt | undefined, turn: Turn | undefined): string {
  if (prompt?.blocked_since != null)
    return `blocked for ${age(prompt.blocked_since)}: ${excerpt(prompt.question, SHOWN_QUESTION)}`;
  if (turn?.state !== 'in_progress') return '';
  const tool = turn.open_tools.at(-1);
  return tool === undefined ? `works, ${age(turn.started_at)}` : `runs ${tool.name}, ${age(tool.since)}`;
}

function blockedBy(prompt: Prompt | undefined): Partial<Prompt> | null {
  if (prompt === undefined) return null;
  const { ask_id, question, blocked_since, terminal_since } = prompt;
  return { ask_id, question, blocked_since, terminal_since };
}

/** For a coordinator: the word, and the request that was granted. Correcting the answer to that request revokes the role. */
function coordinating(ask_id: string | undefined): string[] {
  return ask_id === undefined ? [] : [`coordinator (${ask_id})`];
}

async function sessions(hive: Hive, { ended, json }: Format & { ended?: boolean }): Promise<ExitCode> {
  // Without an open desk, nothing else ends the sessions of processes that are gone.
  await hive.sessions.sweep(hostname());
  const found = await hive.sessions.list({ state: ended === true ? undefined : 'alive', limit: LIMIT });
  const waiting = await hive.mentions.unprocessedBySession();
  const session_ids = found.map(({ session_id }) => session_id);
  const blocking = await hive.prompts.blocking();
  const coordinators = await hive.coordinators.list(found);
  const unprocessed = (session: Session): number => waiting.get(session.session_id) ?? 0;
  if (json === true) {
    const turns = await hive.turns.newestViews(found);
    const listed = found.map((session) => ({
      ...session,
      unprocessed_mentions: unprocessed(session),
      turn: turns.get(session.session_id) ?? null,
      coordinator: coordinators.get(session.session_id) ?? null,
      blocked_by: blockedBy(blocking.get(session.session_id)),
    }));
    return doneAsJson({ sessions: listed });
  }
  if (found.length === 0) {
    remark('No sessions are online.');
    return EXIT.done;
  }
  const turns = new Map((await hive.turns.newestOf(session_ids)).map(({ turn }) => [turn.session_id, turn]));
  const doing = ({ session_id }: Session): string => inWords(blocking.get(session_id), turns.get(session_id));
  printRows([
    COLUMNS,
    ...found.map((session) => [
      session.title,
      session.handle,
      session.state,
      age(session.last_seen_at),
      session.source,
      session.shared ? String(unprocessed(session)) : 'off',
      [...session.roles, ...coordinating(coordinators.get(session.session_id))].join(', ') || '-',
      session.branch === null ? session.project : `${session.project} (${session.branch})`,
      doing(session),
    ]),
  ]);
  return EXIT.done;
}
