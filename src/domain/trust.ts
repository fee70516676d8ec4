/**
 * The human's trust: the one file that permits things without a question (docs/agents.md). Therefore it counts only if every word
 * of it is understood and nobody else could have written it. Otherwise nothing in it permits anything, but the rules that deny
 * still deny. Pure: the caller passes the file's content and the problems that it found.
 */
import { nameWrittenTwice, objectInText, type Raw } from './json.ts';
import { type PermissionRule, readRules } from './permission-rules.ts';
import { keyOfSshLine, readSeats, type Seat } from './seats.ts';
import { excerpt } from './text.ts';

/** The settings that permit or run something. They are never read from the store. */
export interface Authority {
  /** Whether a popup may answer a permission. */
  popup_permissions: boolean;
  /** A shell command that gets each notification as JSON on stdin. */
  notify_command: string | null;
}

/** The human's file, as far as it counts. */
export interface Trust extends Authority {
  /** Whether a program may answer for the human when no person is typing (`hive respond` in a script). */
  allow_scripts_to_answer: boolean;
  /** Whether a person's answers at a terminal are signed, so that they can allow permissions there and not only in Emacs. */
  terminal_may_allow: boolean;
  /** Rules that answer permissions in the human's place. */
  permission_rules: readonly PermissionRule[];
  /** The seats whose answers may allow something. */
  seats: readonly Seat[];
  /** The public key in the person's SSH agent that signs in place of the key of a seat; null if they chose none. */
  ssh_agent_key: string | null;
  /** Whether the first seat registers itself. Not if the human has written an empty list. */
  takes_first_seat: boolean;
  /** Where the file is, or should be. */
  path: string;
  /** Why nothing in it permits anything, as sentences that say what to do. Empty: all of it counts. */
  problems: readonly string[];
  /** Changes whenever the file or its problems change; null if there is no file. */
  digest: string | null;
}

/** The file as it was found. */
export interface TrustFile {
  path: string;
  /** Null if the file does not exist or could not be read. A file that is too large is cut. */
  text: string | null;
  /** Problems of the file itself: its owner, its permissions, its size. */
  problems: readonly string[];
  digest: string | null;
}

export const NO_AUTHORITY: Authority = { popup_permissions: false, notify_command: null };

/** The file's name, with which the names of its rules begin. */
const FILE = 'trust.json';
/** The name of the seat whose key is in the SSH agent. */
const SSH_AGENT = 'SSH agent';
/** In characters. A longer text is not accepted as a command line. */
const LONGEST_COMMAND = 4_096;

/** Reads the content of the human's file. */
export function readTrust({ path, text, problems: found, digest }: TrustFile): Trust {
  const nothing = {
    ...NO_AUTHORITY,
    allow_scripts_to_answer: false,
    terminal_may_allow: false,
    seats: [],
    ssh_agent_key: null,
    takes_first_seat: text === null,
  };
  if (text === null) return { ...nothing, permission_rules: [], path, problems: found, digest };
  const content = objectInText(text);
  const twice = content === null ? null : nameWrittenTwice(text, content);
  const said = content === null || twice !== null ? null : understand(content, path);
  const problem =
    twice === null
      ? `${path} is not valid JSON.`
      : `One object in ${path} has the name "${excerpt(twice, 100)}" twice: remove one.`;
  const problems = [...found, ...(said?.problems ?? [problem])];
  if (said !== null && problems.length === 0) return { ...said.trust, path, problems, digest };
  const rules = said?.trust.permission_rules ?? rulesAmong(text);
  const permission_rules = rules.filter(({ decision }) => decision === 'deny');
  return { ...nothing, permission_rules, path, problems, digest };
}

type Content = Omit<Trust, 'path' | 'problems' | 'digest'>;

function understand(
  content: Readonly<Record<string, unknown>>,
  path: string,
): { trust: Content; problems: string[] } {
  const problems: string[] = [];
  const flag = (name: string): boolean => {
    const value = content[name];
    if (value !== undefined && typeof value !== 'boolean')
      problems.push(`${name} in ${path} is neither true nor false.`);
    return value === true;
  };
  const command = content['notify_command'] ?? null;
  const isCommand = typeof command === 'string' && command !== '' && command.length <= LONGEST_COMMAND;
  if (command !== null && !isCommand) problems.push(`notify_command in ${path} is not a command line.`);
  const { rules, problems: ofRules } = readRules(content['permission_rules'] ?? [], FILE);
  const { seats, problems: ofSeats } = readSeats(content['seats'] ?? [], path);
  const line = content['ssh_agent_key'] ?? null;
  const ssh_agent_key = typeof line === 'string' ? keyOfSshLine(line) : null;
  if (line !== null && ssh_agent_key === null)
    problems.push(
      `ssh_agent_key in ${path} is not a line that begins with "ssh-ed25519", as in a .pub file.`,
    );
  const known = new Set([
    'popup_permissions',
    'allow_scripts_to_answer',
    'terminal_may_allow',
    'notify_command',
    'permission_rules',
    'seats',
    'ssh_agent_key',
  ]);
  const unknown = Object.keys(content).filter((key) => !known.has(key));
  const trust = {
    popup_permissions: flag('popup_permissions'),
    allow_scripts_to_answer: flag('allow_scripts_to_answer'),
    terminal_may_allow: flag('terminal_may_allow'),
    notify_command: isCommand ? command : null,
    permission_rules: rules,
    // Naming the key in the file registers it.
    seats: ssh_agent_key === null ? seats : [...seats, { name: SSH_AGENT, key: ssh_agent_key }],
    ssh_agent_key,
    takes_first_seat: content['seats'] === undefined || seats.length > 0,
  };
  problems.push(
    ...ofRules,
    ...ofSeats,
    ...unknown.map((key) => `${path} has an entry "${key}" that Hive does not know.`),
  );
  return { trust, problems };
}

/** The rules that can be recognized in text that is not understood: each is an object without nested objects. */
function rulesAmong(text: string): PermissionRule[] {
  const rules: PermissionRule[] = [];
  let start = -1;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    // A line break ends an unclosed string, because no JSON string contains one.
    else if (character === '"' || (quoted && character === '\n')) quoted = !quoted;
    else if (quoted) continue;
    else if (character === '{') start = at;
    else if (character === '}' && start !== -1) {
      rules.push(...readRules(readingsOf(text.slice(start, at + 1)), FILE).rules);
      start = -1;
    }
  }
  return rules;
}

/** In readings: more than anybody writes by mistake; further ones are left out. */
const MOST_READINGS = 1_000;

/** The objects that a text may mean, because a reader may take any value of a name that it has twice. Empty if it is not JSON. */
function readingsOf(text: string): Raw[] {
  const whole = objectInText(text);
  if (whole === null || nameWrittenTwice(text, whole) === null) return whole === null ? [] : [whole];
  return [...text.slice(1, -1).matchAll(MEMBER)].reduce<Raw[]>(
    (readings, [member]) => {
      const one = objectInText(`{${member}}`) ?? {};
      const isTwice = Object.keys(one).some((name) =>
        readings.some((reading) => Object.hasOwn(reading, name)),
      );
      return [...(isTwice ? readings : []), ...readings.map((reading) => ({ ...reading, ...one }))].slice(
        0,
        MOST_READINGS,
      );
    },
    [{}],
  );
}

/** A name with its value, in an object without nested objects. */
const MEMBER = /"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^\s,"]+)/g;
