/**
 * Permission rules: what the human has decided to allow or deny without being asked. Rules answer permissions only,
 * never questions or plans; each use is an event. Their input comes from an agent. An
 * allowing rule is therefore matched narrowly: word by word, in the one argument that it is about, and what is not
 * understood is not allowed. A denying rule is matched broadly. Pure: the caller resolves paths.
 */

import { hasAsciiTwin } from './display.ts';
import type { HookTool } from './hooks.ts';
import { objectIn, objectsIn, textIn } from './json.ts';
import { isRemote, type Session } from './sessions.ts';
import { type ShellPart, type ShellWord, shellParts } from './shell-words.ts';
import { SOURCES, type Source } from './sources.ts';

/** One rule that the human wrote. */
export interface PermissionRule {
  /** How the event log names it. */
  name: string;
  decision: 'allow' | 'deny';
  /** A tool's name; `*` stands for any characters. */
  tool: string;
  /** The pattern for the command, the file or the address; null: any arguments that Hive understands for this tool. */
  input: string | null;
  /** The directory of the project; a denying rule may also give its short name. */
  project: string | null;
  source: Source | null;
  /** Which other machines it covers, `token:NAME` with stars. Null: none for an allowing rule, all for a denying one. */
  machine: string | null;
  /** The note for the denied agent. */
  note: string | null;
  /** The day (UTC) with whose beginning the rule ends, such as `2027-03-31`; null: never. */
  expires: string | null;
  /** Its place in the list in which it was written, from 0. */
  index: number;
}

/** Reads rules from the content of a file or a preference: a list, or an object with a list `rules`. A rule with a problem is left out. */
export function readRules(value: unknown, where: string): { rules: PermissionRule[]; problems: string[] } {
  const list = Array.isArray(value) ? value : objectIn(value)?.['rules'];
  if (!Array.isArray(list)) return { rules: [], problems: [`${where} contains no list of rules.`] };
  const problems: string[] = [];
  const rules = list.flatMap((item, index): PermissionRule[] => {
    const [raw] = objectsIn([item]);
    const problem = raw === undefined ? 'is not an object' : problemOf(raw);
    if (raw === undefined || problem !== null) {
      problems.push(`Rule ${index + 1} of ${where} ${problem} and is not used.`);
      return [];
    }
    return [
      {
        name: textIn(raw, 'name') ?? `rule ${index + 1} of ${where}`,
        decision: raw['decision'] === 'allow' ? 'allow' : 'deny',
        tool: textIn(raw, 'tool') ?? '*',
        input: textIn(raw, 'input'),
        project: textIn(raw, 'project'),
        source: SOURCES.find((source) => source === raw['source']) ?? null,
        machine: textIn(raw, 'machine'),
        note: textIn(raw, 'note'),
        expires: textIn(raw, 'expires'),
        index,
      },
    ];
  });
  return { rules, problems };
}

const FIELDS = new Set([
  'name',
  'decision',
  'tool',
  'input',
  'project',
  'source',
  'machine',
  'note',
  'expires',
]);

/** The problem of a rule; null if it has none. A rule that is only partly understood might do less than intended. */
function problemOf(raw: Readonly<Record<string, unknown>>): string | null {
  if (raw['decision'] !== 'allow' && raw['decision'] !== 'deny') return 'says neither allow nor deny';
  const tool = textIn(raw, 'tool');
  if (tool === null) return 'names no tool';
  // Claude Code's settings are written like this. No tool has such a name, so the rule would never deny anything.
  if (/[()]/.test(tool)) return `has in its "tool" a pattern that belongs into its "input": ${tool},`;
  if (raw['source'] !== undefined && !SOURCES.some((source) => source === raw['source']))
    return 'names an unknown source';
  const unknown = Object.keys(raw).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `has an unknown field "${unknown}"`;
  const wrong = Object.entries(raw).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined) return `has a value in "${wrong[0]}" that is not text`;
  const empty = Object.entries(raw).find(([, value]) => typeof value === 'string' && value.trim() === '');
  if (empty !== undefined) return `has an empty "${empty[0]}"`;
  const expires = textIn(raw, 'expires');
  if (expires !== null && !isDay(expires)) return `has an "expires" that is not a day such as 2027-03-31`;
  return raw['decision'] === 'allow' ? whyNeverAllowing(raw) : null;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Whether a rule has ended at this time. */
export function hasExpired({ expires }: Pick<PermissionRule, 'expires'>, now: string): boolean {
  return expires !== null && now.slice(0, expires.length) >= expires;
}

/** Why a rule could never allow what its author meant; null when it can. */
function whyNeverAllowing(raw: Readonly<Record<string, unknown>>): string | null {
  const project = textIn(raw, 'project');
  if (project !== null && !/^(?:\/|[A-Za-z]:[\\/])/.test(project))
    return `allows something in the project "${project}" without its full directory`;
  const name = textIn(raw, 'tool') ?? '';
  const input = textIn(raw, 'input');
  if (input === null) return null;
  const isOpen = name.includes('*');
  const kinds = [...TOOLS].flatMap(([known, { kind }]) => (fits(name, known) ? kind : []));
  if (kinds.length === 0 && !isOpen)
    return `has an "input", and Hive does not know which argument of ${name} that is`;
  if (!kinds.includes('command') || !input.includes('*')) return null;
  const parts = shellParts(input, { stars: true });
  // Of several tools, the input may be a file or an address.
  if (parts === null || (hasStar(parts) && !beginPlainly(parts)))
    return isOpen ? null : 'has a star beside something in its "input" that only a shell understands';
  const program = commandsOf(parts)
    .map(programWithOpenCode)
    .find((found) => found !== null);
  return program == null ? null : `has a star where ${program} may read it as a program or as code`;
}

// ---- Which rule decides ----
// The tool's call is compared before any transaction, the session inside one.

/** The fields of a session that a rule checks. */
export type RuledSession = Pick<Session, 'project' | 'project_dir' | 'source' | 'machine'>;

/** Where a tool runs. */
export interface Place {
  /** The directory in which the agent works, without links; null if that cannot be known. */
  cwd: string | null;
  /** Where a path really leads, from `cwd`; null if that cannot be known. */
  resolve: (path: string) => string | null;
  /** Whether git takes a folder without .git for a repository. Absent for another machine. */
  isRepository?: (folder: string) => boolean;
  /** The home directory, which a path that begins with `~` may mean. Absent for another machine. */
  home?: string;
  /**
   * The project of that directory, as its own files prove it, or the directory where no project is around it. Absent for
   * another machine. What the store says of a session's project is not enough for a rule that allows.
   */
  project_dir?: string;
}

/** Another machine's files cannot be examined, so a star allows nothing there. */
export const NOWHERE: Place = { cwd: null, resolve: () => null };

/** The rules that match what a tool is about to do, in any session. */
export function rulesForTool(
  rules: readonly PermissionRule[],
  tool: HookTool,
  place: Place,
): PermissionRule[] {
  let denied: readonly string[] | null = null;
  const matching = rules.filter((rule) => {
    if (rule.decision === 'allow') return isAt(rule, place) && isAllowed(rule, tool, place);
    if (!fits(rule.tool.toLowerCase(), tool.name.toLowerCase())) return false;
    if (rule.input === null) return true;
    denied ??= deniableTexts(tool, place);
    const patterns = deniedPatterns(rule.input, place);
    return denied.some((text) => patterns.some((pattern) => fits(pattern, text)));
  });
  // A rule that denies in a project counts for each call that runs there, even if the session belongs to another project.
  const isHere = (rule: PermissionRule): boolean => place.project_dir !== undefined && isAt(rule, place);
  return matching.map((rule) =>
    rule.decision === 'deny' && isHere(rule) ? { ...rule, project: null } : rule,
  );
}

/** Whether the directory itself, and not only the record of its session, belongs to the project of a rule. */
function isAt({ project }: PermissionRule, { project_dir }: Place): boolean {
  if (project === null || project_dir === undefined) return true;
  return isProject(project, project_dir) || isBelow(project, project_dir);
}

/** Whether a rule names this project: its directory, or what git keeps in it. */
function isProject(project: string, project_dir: string): boolean {
  const folder = project.replace(/\/$/, '');
  return [project, folder, `${folder}/.git`].includes(project_dir);
}

/** A directory below a project without git; one below another repository has that one as its project. */
function isBelow(project: string, project_dir: string): boolean {
  const folder = project.replace(/\/$/, '');
  return folder !== '' && !project_dir.endsWith('/.git') && project_dir.startsWith(`${folder}/`);
}

/** The rule that decides now, of those that match the tool: a denying rule wins over all allowing ones. */
export function decidingRule(
  matching: readonly PermissionRule[],
  session: RuledSession,
  now: string,
): PermissionRule | null {
  const here = matching.filter((rule) => !hasExpired(rule, now) && isForSession(rule, session));
  return here.find(({ decision }) => decision === 'deny') ?? here[0] ?? null;
}

function isForSession(
  { decision, project, source, machine }: PermissionRule,
  session: RuledSession,
): boolean {
  if (!isForMachine(machine, decision, session.machine)) return false;
  if (source !== null && source !== session.source) return false;
  if (project === null) return true;
  const { project_dir } = session;
  if (isProject(project, project_dir)) return true;
  // A project that uses another one's name is denied by the other's rules too, but they allow it nothing.
  return decision === 'deny' && (project === session.project || isBelow(project, project_dir));
}

/** Another machine reports its projects itself, so an allowing rule must name the machine. */
function isForMachine(wanted: string | null, decision: PermissionRule['decision'], machine: string): boolean {
  const remote = isRemote(machine);
  if (wanted !== null) return remote && fits(wanted, machine);
  return decision === 'deny' || !remote;
}

/** Whether a text matches a pattern in which a star means any characters. */
function fits(pattern: string, text: string): boolean {
  return fill(pattern.split('*'), text) !== null;
}

/** The text that each star between the pieces matches; null when the text does not consist of them. */
function fill(pieces: readonly string[], text: string): string[] | null {
  const [first = ''] = pieces;
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return text === first ? [] : null;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return null;
  const end = text.length - last.length;
  const filled: string[] = [];
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return null;
    filled.push(text.slice(at, found));
    at = found + piece.length;
  }
  return [...filled, text.slice(at, end)];
}

// ---- What a rule allows ----

/** A tool whose arguments Hive understands: the one that a rule's `input` is about, and those that do not affect it. */
export interface KnownTool {
  kind: 'command' | 'path' | 'url' | 'text';
  field: string;
  beside: readonly string[];
}

const TOOLS: ReadonlyMap<string, KnownTool> = new Map(
  Object.entries({
    Bash: { kind: 'command', field: 'command', beside: ['description', 'timeout'] },
    // A call of an ACP agent that names no tool, by its kind. Of the other kinds every agent has arguments of its own.
    execute: { kind: 'command', field: 'command', beside: ['description', 'timeout'] },
    Read: { kind: 'path', field: 'file_path', beside: ['offset', 'limit', 'pages'] },
    Write: { kind: 'path', field: 'file_path', beside: ['content'] },
    Edit: { kind: 'path', field: 'file_path', beside: ['old_string', 'new_string', 'replace_all'] },
    MultiEdit: { kind: 'path', field: 'file_path', beside: ['edits'] },
    NotebookEdit: {
      kind: 'path',
      field: 'notebook_path',
      beside: ['new_source', 'cell_id', 'cell_type', 'edit_mode'],
    },
    WebFetch: { kind: 'url', field: 'url', beside: ['prompt'] },
    WebSearch: { kind: 'text', field: 'query', beside: ['allowed_domains', 'blocked_domains'] },
  } as const),
);

/** The tool, if Hive understands its arguments; else null. */
export function toolKind(name: string): KnownTool | null {
  return TOOLS.get(name) ?? null;
}

/** Nobody approves anything longer than this in advance. */
const LONGEST_ALLOWED = 2_000;

function isAllowed(
  { tool: pattern, input }: PermissionRule,
  { name, input: given }: HookTool,
  place: Place,
): boolean {
  if (!isToolAllowed(pattern, name)) return false;
  const tool = TOOLS.get(name);
  // Allowing a tool that Hive does not know allows it with any arguments.
  if (tool === undefined) return input === null;
  const all = objectIn(given);
  const value = all?.[tool.field];
  if (all === null || typeof value !== 'string') return false;
  if (Object.keys(all).some((key) => key !== tool.field && !tool.beside.includes(key))) return false;
  if (input === null) return true;
  if (value.length > LONGEST_ALLOWED || value.includes('\0')) return false;
  switch (tool.kind) {
    case 'command':
      // A rule for several tools that names a folder is about the files in it, and runs none of them.
      return !(pattern.includes('*') && runsFromFolder(input)) && isCommandAllowed(input, value, place);
    case 'path':
      return isPathAllowed(atHome(input, place).split('*'), value, place);
    case 'url':
      return isUrlAllowed(input, value);
    case 'text':
      return fits(input, value);
  }
}

/** `mcp__github__*` is not a tool of the server `github__evil`, nor is `mcp__github___x`, which may be one of `github_`. */
function isToolAllowed(pattern: string, name: string): boolean {
  const filled = fill(pattern.split('*'), name);
  if (filled === null) return false;
  if (filled.length === 0) return true;
  if (!/^mcp__.+__/.test(pattern)) return true;
  return !name.includes('___') && filled.every((part) => !part.includes('__'));
}

// ---- Commands ----

function runsFromFolder(pattern: string): boolean {
  const parts = shellParts(pattern, { stars: true }) ?? [];
  return commandsOf(parts).some((words) => {
    const { pieces: [first = '', ...stars] = [] } = words[programAt(words)] ?? {};
    return stars.length > 0 && isFolderNamed(first);
  });
}

function isCommandAllowed(pattern: string, command: string, place: Place): boolean {
  // A command that the rule spells out in full is allowed as written, however a shell reads it.
  if (pattern === command && !pattern.includes('*')) return true;
  const wanted = shellParts(pattern, { stars: true });
  const given = shellParts(command);
  if (wanted === null || given === null || wanted.length !== given.length) return false;
  if (hasStar(wanted) && ![wanted, given].every(beginPlainly)) return false;
  const commands = commandsOf(wanted);
  // A change of the directory may also fail, so what follows must be allowed in each directory in which it may run.
  let places: readonly Place[] = [place, ...placesOfValues(place, new Set(commandsOf(given)))];
  return wanted.every((part, index) => {
    const other = given[index];
    const words = commands[index] ?? [];
    if (other === undefined || part.operator !== other.operator) return false;
    const isCommand = !followsRedirection(wanted, index);
    if (isCommand && !isTameProgram(words, other.words)) return false;
    const inside = placesAfter(places, words, CHANGES_IN_PART);
    const isAllowed = inside.every((one) => isPartAllowed(part, other, { ...one, isCommand }));
    if (isCommand) places = placesAfterCommand(places, words);
    return isAllowed;
  });
}

/** The place of the program among the words of a command: behind its variables. */
function programAt(words: readonly ShellWord[]): number {
  return words.findIndex(({ pieces }) => !isAssignment(pieces[0] ?? ''));
}

/** Whether the program that a star matches runs nothing that another star matches: `* run *` does not allow `uv run x`. */
function isTameProgram(wanted: readonly ShellWord[], given: readonly ShellWord[]): boolean {
  const at = programAt(wanted);
  if ((wanted[at]?.pieces.length ?? 1) === 1) return true;
  const program = given[at];
  return program !== undefined && programWithOpenCode(wanted.with(at, program)) === null;
}

function hasStar(parts: readonly ShellPart[]): boolean {
  return parts.some(({ words }) => words.some(({ pieces }) => pieces.length > 1));
}

function isRedirection(operator: string | null): boolean {
  return operator !== null && /[<>]/.test(operator);
}

/** Whether a part is the file of a redirection, and what follows it of the same command. */
function followsRedirection(parts: readonly ShellPart[], index: number): boolean {
  return isRedirection(parts[index - 1]?.operator ?? null);
}

/** The command that each part belongs to, without the files of its redirections: `git -C src > log add *` is `git -C src add *`. */
export function commandsOf(parts: readonly ShellPart[]): readonly (readonly ShellWord[])[] {
  let command: ShellWord[] = [];
  return parts.map(({ words }, index) => {
    const isSame = followsRedirection(parts, index);
    if (!isSame) command = [];
    command.push(...(isSame ? words.slice(1) : words));
    return command;
  });
}

/** Behind these words of a shell the program is another word than the first. */
const KEYWORDS = new Set(
  'if then elif else while until do for case select function coproc repeat foreach noglob nocorrect'.split(
    ' ',
  ),
);

/** Whether the program of each command is where it is looked for: behind no keyword, and behind no redirection. */
export function beginPlainly(parts: readonly ShellPart[]): boolean {
  return parts.every(({ words, operator }, index) => {
    // To dash, `a &> log b` is two commands, and the second one is b.
    if (followsRedirection(parts, index))
      return words.length === 1 || !/^&/.test(parts[index - 1]?.operator ?? '');
    if (KEYWORDS.has(words[0]?.pieces[0] ?? '')) return false;
    return !isRedirection(operator) || words.some(({ pieces }) => !isAssignment(pieces[0] ?? ''));
  });
}

/** The places after a command that may change the directory; behind a word that is not understood, nobody knows it. */
function placesAfterCommand(places: readonly Place[], words: readonly ShellWord[]): readonly Place[] {
  const changes = ({ pieces }: ShellWord): boolean => CHANGES_DIRECTORY.has(pieces[0] ?? '');
  if (!words.some(changes)) return places;
  const command = words.slice(words.findIndex(({ pieces }) => !BEFORE_BUILTIN.test(pieces[0] ?? '')));
  const [first] = command;
  if (first === undefined || !changes(first)) return [...places, NOWHERE];
  return placesAfter(places, command, CHANGES_DIRECTORY);
}

/** `command -p cd x` and `builtin -- cd x` change the directory, too. */
const BEFORE_BUILTIN = /^(?:command|builtin|-p|--)$/;

/**
 * The folders that the values of options and variables name, anywhere in a command line: a program may work in one of them.
 * Where git finds its files elsewhere, nobody knows the place.
 */
function placesOfValues(place: Place, commands: Iterable<readonly ShellWord[]>): readonly Place[] {
  const found = new Map<string, Place>();
  for (const words of commands)
    for (const [index, { pieces }] of words.entries()) {
      const [word = ''] = pieces;
      const next = words[index + 1]?.pieces[0] ?? '';
      if (FINDS_ELSEWHERE.test(word) || (word === '-c' && FINDS_ELSEWHERE.test(next))) return [NOWHERE];
      const isChange = CHANGES_DIRECTORY.has(word);
      for (const value of isChange ? [next] : valuesOf(word, next)) {
        // Only an existing folder has itself in it.
        const folder = place.cwd === null ? null : place.resolve(`${value}/.`);
        if (folder === null || folder === place.cwd) continue;
        if (isInRepository(folder, place)) return [NOWHERE];
        if (!isChange) found.set(folder, movedTo(place, value));
      }
      if (found.size > MOST_FOLDERS) return [NOWHERE];
    }
  return [...found.values()];
}

/** Whether a folder below that of the agent is in one that git takes for a repository: git runs what the settings in it name. */
function isInRepository(folder: string, { cwd, isRepository }: Place): boolean {
  if (isRepository === undefined) return false;
  for (let one = folder; one !== cwd && one !== ''; one = one.slice(0, one.lastIndexOf('/')))
    if (isRepository(one)) return true;
  return false;
}

const FINDS_ELSEWHERE = /^(?:--git-dir(?:=|$)|GIT_(?:DIR|WORK_TREE|COMMON_DIR)=|core\.worktree=|CDPATH=)/i;
const MOST_FOLDERS = 16;

/** The places of an option's or a variable's value: after `=`, behind its letters, or in the next word. */
function valuesOf(word: string, next: string): string[] {
  const assigned = /^[^=]*=(.+)$/s.exec(word)?.[1];
  if (!word.startsWith('-')) return assigned === undefined ? [] : [assigned];
  if (assigned !== undefined) return [assigned];
  const joined = /^-[^-]+$/s.test(word) ? [word.slice(2), /C(.+)$/s.exec(word)?.[1] ?? ''] : [];
  return [...joined, next].filter((value) => value !== '' && !value.startsWith('-'));
}

const CHANGES_DIRECTORY = new Set(['cd', 'chdir', 'pushd', 'popd']);
/** Options of git, make, npm and others: they work in the directory that follows. */
const CHANGES_IN_PART = new Set(['-C', '--prefix', '--directory', '--cwd', '--dir', '--work-tree']);
const MOST_PLACES = 8;

/** The places in which something may run after the words that change the directory: also the earlier ones. */
function placesAfter(
  places: readonly Place[],
  words: readonly ShellWord[],
  changing: ReadonlySet<string>,
): readonly Place[] {
  let found = places;
  words.forEach(({ pieces }, index) => {
    const [word = ''] = pieces;
    const [, option = '', value] = /^(-C|--[a-z-]+=)(.+)?$/s.exec(word) ?? [];
    const isInline =
      option !== '' && (value !== undefined || pieces.length > 1) && changing.has(option.replace(/=$/, ''));
    if (!isInline && !changing.has(word)) return;
    const next = words[index + 1]?.pieces;
    const target = isInline
      ? pieces.length === 1
        ? value
        : undefined
      : next?.length === 1
        ? next[0]
        : undefined;
    // In a directory that the rule leaves open, a star matches no path; a star that is the directory itself is judged before.
    if (target === undefined && !isInline && changing === CHANGES_IN_PART) {
      if (words.filter((one) => one.pieces.length > 1).length <= 1) return;
    }
    found = found.length > MOST_PLACES ? [NOWHERE] : [...found, ...found.map((one) => movedTo(one, target))];
  });
  return found;
}

function movedTo({ cwd, resolve }: Place, target: string | undefined): Place {
  if (target === undefined || /^[-~+]|^$/.test(target)) return NOWHERE;
  const moved = cwd === null ? null : leadsTo(target, { cwd, resolve });
  // A link out of the directory may lead anywhere, whatever the rule says that it is called.
  const written = absolute(target.replace(/\/+$/, ''), cwd)?.join('/');
  if (cwd === null || moved === null || !(moved === `/${written}` || isInside(cwd, moved))) return NOWHERE;
  return { cwd: moved, resolve: (path) => resolve(path.startsWith('/') ? path : `${moved}/${path}`) };
}

/**
 * `isCommand`: the first word is a program, not a file that something is written to or read from. `isText`: the program
 * takes this word as text, whatever it says. `isOfGo`: the program is Go.
 */
type WordPlace = Place & { isCommand: boolean; isText?: boolean; isOfGo?: boolean };

function isPartAllowed({ words: wanted }: ShellPart, { words: given }: ShellPart, place: WordPlace): boolean {
  const last = wanted.at(-1);
  const takesMore = last !== undefined && place.isCommand && goesOn(last, wanted.length === 1);
  if (given.length < wanted.length || (given.length > wanted.length && !takesMore)) return false;
  const texts = given.map(({ pieces }) => pieces[0] ?? '');
  const program = place.isCommand ? programAt(wanted) : -1;
  const isOfGo = texts[program] === 'go';
  return texts.every((text, index) => {
    const pattern = wanted[index];
    const isText = place.isCommand && takesText(texts, index);
    if (pattern === undefined) return isPlainArgument(text, text, { ...place, isText, isOfGo });
    return isWordAllowed(pattern, text, { ...place, isText, isOfGo, isCommand: index === program });
  });
}

const endsAName = (text: string): boolean => /[\p{L}\p{N}]$/u.test(text);

/** Whether further words may follow: after `npm test *` and `npm test*`, not after `cat src/*` and `ls -*`. */
function goesOn({ pieces }: ShellWord, isOnly: boolean): boolean {
  const [first = '', last] = pieces;
  if (pieces.length !== 2 || last !== '') return false;
  return first === '' ? !isOnly : !/[/=]/.test(first) && endsAName(first);
}

function isWordAllowed({ pieces }: ShellWord, text: string, place: WordPlace): boolean {
  const [first = ''] = pieces;
  if (pieces.length === 1) return text === first;
  const filled = fill(pieces, text);
  if (isFolderNamed(first)) {
    // The rule may spell out what is in no plain path: `@types/*`, `https://example.org/*`.
    const isPlain = isPlainPath(text) || (filled?.every(isPlainFragment) === true && !/^[-+]/.test(text));
    return isPlain && isPathAllowed(pieces, text, place);
  }
  if (filled === null) return false;
  if (place.isCommand) return isProgramAllowed(pieces, text);
  // If the star matches nothing, the rule spells out the whole word.
  if (first !== '' && filled.every((part) => part === '')) return true;
  if (first === '')
    return isPlainArgument(text, filled.join(''), place) || isPlainAround(text, filled, place);
  // `git log*` is the word `log` and what follows it: not `logs`, `log-evil` or `log:evil`.
  if (!first.includes('=') && endsAName(first)) return false;
  if (first.startsWith('-') && !first.includes('=')) return isOption(text, place);
  return filled.every(isPlainFragment) && isWithinFolder([text, ...filled], place);
}

/** A star never matches the path of a program; after a program's name it matches what follows. */
function isProgramAllowed(pieces: readonly string[], text: string): boolean {
  return (
    pieces.length === 2 &&
    (pieces.every((piece) => piece === '') ? /^\w[\w.+-]*$/.test(text) : pieces[0] === text)
  );
}

function isFolderNamed(first: string): boolean {
  return first.includes('/') && !/^-|=/.test(first);
}

// The list has what a star may match, and not what it may not: each program has its own idea of what `=`, `:`, `@`, `+`, a
// blank and a quote mean. A plain word is a name, a number, a path or a revision of git, and hardly any program reads more
// into it. Those that do are listed below.

// Expressions with classes of Unicode take up to a millisecond to make, so they are made in functions: most hooks have no rule.

function isPlainWord(text: string): boolean {
  return /^(?:\.\/?|(?:\.?\/)?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+-]*(?:\/[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+-]*)*\/?(?:[~^]+\p{N}*)*)$/u.test(
    text,
  );
}

/** Characters that a star may match within a word whose beginning the rule spells out. */
function isPlainFragment(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}_./+-]*$/u.test(text) && !hasAsciiTwin(text);
}

/** A word in a folder that the rule names. With `-` or `+` first it is an option to most programs, even where such a folder exists. */
function isPlainPath(text: string): boolean {
  return /^(?![-+])[\p{L}\p{M}\p{N}_./+, -]+$/u.test(text) && !hasAsciiTwin(text);
}

/** Whether a star may match a word: a plain one, and nothing that leads out of the directory in which the agent works. */
function isPlainArgument(text: string, filled: string, place: WordPlace): boolean {
  if (place.isText === true) return isText(text, place);
  // To Go, `src/...` is all that the folder src contains, even if it contains a file called `...`.
  const [word = '', part = ''] = [text, filled].map((one) =>
    place.isOfGo === true ? one.replace(/\/\.{3}$/, '') : one,
  );
  return isPlainWord(word) && !hasAsciiTwin(word) && isWithinFolder([word, part], place);
}

/** The same for a word of which the rule spells out the middle or the end, whatever characters are in that: `*:src/a.ts`. */
function isPlainAround(text: string, [begin = '', ...more]: readonly string[], place: WordPlace): boolean {
  return (
    place.isText !== true &&
    isPlainWord(begin) &&
    !hasAsciiTwin(begin) &&
    more.every(isPlainFragment) &&
    isWithinFolder([text, begin, ...more], place)
  );
}

/** Of an option that a rule leaves open, nobody knows where the value begins, unless there is a `=`. */
function isOption(text: string, place: WordPlace): boolean {
  if (/^--?[A-Za-z0-9][\w-]*$/.test(text)) return true;
  const value = /^--?[A-Za-z0-9][\w-]*=(.+)$/s.exec(text)?.[1];
  return value !== undefined && isPlainArgument(value, value, { ...place, isText: false });
}

const MOST_PARTS = 32;

/** Whether nothing in a word leads out of the directory in which the agent works, however a program may split the word. */
function isWithinFolder(texts: readonly string[], { cwd, resolve }: Place): boolean {
  // Nothing leads out of the root directory, so there a star matches no path.
  if (cwd === null || cwd === '/') return false;
  const parts = new Set(texts.flatMap((text) => [text, ...text.split(/[=:,@]/)]));
  if (parts.size > MOST_PARTS) return false;
  return [...parts].every((part) => {
    if (part === '') return true;
    if (part.startsWith('~')) return false;
    const real = leadsTo(part, { cwd, resolve });
    return real !== null && isInside(cwd, real);
  });
}

/** Whether a path is this folder or in it, and not hidden there. */
function isInside(folder: string, path: string): boolean {
  return path === folder || (isWithin(folder, path) && !path.slice(folder.length).includes('/.'));
}

/** The programs that take a word as text: all of their words, or what follows one of these options. */
const TAKES_TEXT: ReadonlyMap<string, readonly string[] | 'all'> = new Map(
  Object.entries({
    git: ['-m', '--message'],
    gh: ['-t', '--title', '-b', '--body'],
    jest: ['-t'],
    vitest: ['-t'],
    grep: 'all',
    rg: 'all',
    echo: 'all',
  } as const),
);

function takesText(words: readonly string[], index: number): boolean {
  const where = TAKES_TEXT.get(words[0] ?? '');
  return where === 'all' || (where?.includes(words[index - 1] ?? '') ?? false);
}

/** Text in quotes may say anything but be an option; a file that it might name is in the directory. */
function isText(text: string, place: Place): boolean {
  return text !== '' && !/^\s*-/.test(text) && isWithinFolder([text], place);
}

// In a rule for one of the following programs a star comes only after the program or the code that they run:
// `timeout 60 npm test *`, `sed -n 1,9p *`, `node scripts/build.mjs *`.

/** They run their first word or the file that it names, or take it for options. A star in a folder that the rule names is a file. */
const RUNS_A_WORD = new Set(
  (
    'env nice ionice nohup setsid timeout time stdbuf command builtin exec xargs npx bunx pnpx uvx pipx ' +
    'strace ltrace valgrind unbuffer chrt taskset hyperfine ' +
    'sh ash bash rbash dash zsh ksh mksh csh tcsh yash fish busybox python pypy node nodejs tsx ts-node deno bun perl ruby php lua tclsh wish expect ' +
    'Rscript julia guile java osascript pwsh source . vi vim nvim emacs gdb lldb tar bsdtar ar'
  ).split(' '),
);
/** So do these with their first word: `npm exec *` is `npx *`. */
const RUNS_A_WORD_AFTER = new Set(
  (
    'npm exec,npm x,pnpm exec,pnpm dlx,yarn exec,yarn dlx,bun x,bun run,deno run,pipx run,uv run,poetry run,pipenv run,' +
    'pdm run,hatch run,conda run,bundle exec'
  ).split(','),
);
/** Their first word is code. */
const READS_CODE = new Set('sed gsed awk gawk mawk nawk jq yq dc bc m4 ex ed'.split(' '));
/** An option behind their first word may name a program or be code, too. */
const READS_OPTIONS_LATE = new Set([
  ...READS_CODE,
  'tar',
  'bsdtar',
  'vi',
  'vim',
  'nvim',
  'emacs',
  'gdb',
  'lldb',
]);
/** Programs that run another one, which any of their words may name. */
const RUNS_ANY_WORD = new Set(
  (
    'sudo doas su runuser pkexec ssh watch eval parallel script tmux screen at batch crontab trap alias systemd-run nsenter unshare ' +
    'chroot flock docker podman kubectl'
  ).split(' '),
);

/** Words of programs behind which another program stands, which they run: `find src -exec *`, `git bisect run *`. */
const RUNS_WHAT_FOLLOWS: ReadonlyMap<string, readonly string[]> = new Map([
  ['find', ['-exec', '-execdir', '-ok', '-okdir']],
  ['fd', ['-x', '-X', '--exec', '--exec-batch']],
  ['git', ['run', 'foreach', '--exec']],
  ['go', ['run', '-exec', '-toolexec']],
]);

/** The program in a rule's command that could take what a star matches for a program or for code; null if none could. */
function programWithOpenCode(words: readonly ShellWord[]): string | null {
  const texts = words.map(({ pieces }) => pieces[0] ?? '');
  const wordWithStar = (start: number, files: boolean): number =>
    words.findIndex(
      ({ pieces }, at) => at >= start && pieces.length > 1 && (files || !isFolderNamed(pieces[0] ?? '')),
    );
  for (let at = 0; at < words.length; ) {
    const program = (texts[at] ?? '').replace(/^.*\//s, '');
    if (isAssignment(program)) {
      // Many a variable names a program: GIT_SSH_COMMAND, PAGER.
      if ((words[at]?.pieces.length ?? 0) > 1) return texts[at] ?? program;
      at += 1;
      continue;
    }
    const isIn = (known: ReadonlySet<string>): boolean =>
      known.has(program) || known.has(unversioned(program));
    const follows = RUNS_WHAT_FOLLOWS.get(program) ?? [];
    const before_next = texts.findIndex((text, index) => index > at && follows.includes(text));
    if (before_next !== -1) {
      at = before_next + 1;
      const { pieces: [first = '', ...stars] = [] } = words[at] ?? {};
      if (stars.length > 0 && !isFolderNamed(first)) return program;
      continue;
    }
    const behind = behindSubcommand(program, texts, at);
    if (behind === null && !(isIn(RUNS_A_WORD) || isIn(READS_CODE) || isIn(RUNS_ANY_WORD))) return null;
    const found = wordWithStar(at, isIn(READS_CODE) || isIn(RUNS_ANY_WORD));
    const [word, named = ''] = [words[found], texts[found]];
    if (word === undefined) return null;
    if (isIn(RUNS_ANY_WORD)) return program;
    // `pytest*` is the word `pytest`, and the star is what follows it.
    const isName = named !== '' && goesOn(word, false);
    const star = isName ? found + 1 : found;
    if (isName && named.startsWith('-') && isIn(READS_OPTIONS_LATE)) return program;
    const before = isName && !named.startsWith('-') ? named : (texts[found - 1] ?? '');
    // The next word is the program that it runs, unless an option may have taken that word.
    at = behind ?? at + 1;
    while (at < star && isBesideTheProgram(texts[at] ?? '')) at += 1;
    if (at >= star || (texts[at] ?? '').startsWith('-') || before.startsWith('-')) return program;
  }
  return null;
}

/** Where the first word of a subcommand is that runs it, as of `npm exec`; null for any other one. Options before it may take a word. */
function behindSubcommand(program: string, texts: readonly string[], at: number): number | null {
  let next = at + 1;
  while (texts[next]?.startsWith('-') === true) next += 1;
  const places = next === at + 1 ? [next] : [next, next + 1];
  const found = places.find((place) => RUNS_A_WORD_AFTER.has(`${program} ${texts[place]}`));
  return found === undefined ? null : found + 1;
}

/** `python` of `python3.12`, `bash` of `bash-5.2`. */
function unversioned(program: string): string {
  return program.replace(/-?\d[\d.]*$/, '');
}

/** A variable, a number, or an option that takes no word: `env A=b`, `timeout 10s`, `sed -n`; and `python -m pytest`. */
function isBesideTheProgram(word: string): boolean {
  return isAssignment(word) || /^(?:[\d.]+[smhd]?|-[a-z]?\d+|-[ioe]L|-[0eimnpvz]|--)$/.test(word);
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(word);
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

// ---- Files ----

/** The path is compared as resolved; a star stays in the folder that is named before it. */
function isPathAllowed(pieces: readonly string[], text: string, { cwd, resolve }: Place): boolean {
  const wanted = absolute(pieces.join(STAR), cwd);
  // Clients read a home directory, drop outer blanks and compose letters: then the file is another one.
  const isPlain = text !== '' && !text.startsWith('~') && text === text.trim().normalize('NFC');
  const real = isPlain ? leadsTo(text, { cwd, resolve }) : null;
  if (wanted === null || real === null) return false;
  const given = real.split('/').slice(1);
  const last = wanted.length - 1;
  if (wanted.length === 0 || given.length < wanted.length) return false;
  return wanted.every((part, index) =>
    isNameAllowed(part.split(STAR), index === last ? given.slice(last).join('/') : (given[index] ?? '')),
  );
}

/** Marks a star: no path contains this character. */
const STAR = '\0';

/** The parts of a path that a rule names, from the root; null if they cannot be known. */
function absolute(path: string, cwd: string | null): string[] | null {
  if (!path.startsWith('/') && cwd === null) return null;
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
    if (part === '..' && parts.pop()?.includes(STAR) === true) return null;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return path.endsWith('/') ? null : parts;
}

/**
 * Where a path leads; null if that cannot be known. Behind a link, `cd` and some clients go up from the link, and other programs
 * from where it leads: there a path means two files.
 */
function leadsTo(path: string, { cwd, resolve }: Pick<Place, 'cwd' | 'resolve'>): string | null {
  const real = resolve(path);
  if (real === null || !path.split('/').includes('..')) return real;
  const written = asWritten(path, cwd);
  return written !== null && resolve(written) === real ? real : null;
}

/** A path from the root, in which each `..` takes away the name before it; null if that cannot be known. */
function asWritten(path: string, cwd: string | null): string | null {
  const parts = absolute(path.replace(/\/+$/, ''), cwd);
  return parts === null ? null : `/${parts.join('/')}`;
}

/** A star matches no name that begins with a dot: git's hooks and agents' settings have such names. */
function isNameAllowed(pieces: readonly string[], name: string): boolean {
  const filled = fill(pieces, name);
  if (filled === null) return false;
  if (pieces[0] === '' && pieces.length > 1 && name.startsWith('.')) return false;
  return filled.every((part) => !part.includes('/.')) && (pieces.length > 1 || !name.includes('/'));
}

// ---- Addresses ----

const ADDRESS = /^(https?:\/\/)([^/?#]*)(.*)$/s;

/** In a host name a star matches whole labels at its beginning; after the host, anything without `..`. */
function isUrlAllowed(pattern: string, url: string): boolean {
  if (pattern === url) return true;
  const [, scheme, host = '', rest = ''] = ADDRESS.exec(pattern) ?? [];
  const [, otherScheme, otherHost = '', otherRest = ''] = ADDRESS.exec(url) ?? [];
  if (scheme === undefined || scheme !== otherScheme) return false;
  // No name and password, and nothing that programs parse differently.
  if (!/^[A-Za-z0-9.-]+(?::\d+)?$/.test(otherHost) || !/^[\x21-\x7e]*$/.test(otherRest)) return false;
  if (/\\|%(?:2e|2f|5c|00)|(?:^|\/)\.\.?(?:[/?#;]|$)/i.test(otherRest)) return false;
  // `https://example.org*` matches that host, with anything after it.
  const [plain, tail] =
    host.endsWith('*') && host !== '*' && rest === '' ? [host.slice(0, -1), '*'] : [host, rest];
  if (tail === '*' && otherRest !== '' && !/^[/?#]/.test(otherRest)) return false;
  return isHostAllowed(plain, otherHost) && fits(tail, otherRest);
}

function isHostAllowed(pattern: string, host: string): boolean {
  if (!pattern.includes('*')) return pattern.toLowerCase() === host.toLowerCase();
  if (pattern === '*') return true;
  const fixed = pattern.slice(1);
  return fixed.startsWith('.') && !fixed.includes('*') && host.toLowerCase().endsWith(fixed.toLowerCase());
}

// ---- What a rule denies ----
// A denying rule is compared with everything in the agent's input that it could mean.

/** The texts of an input that a denying rule is compared with. */
function deniableTexts({ input }: HookTool, place: Place): string[] {
  const texts = new Set([JSON.stringify(input) ?? '']);
  for (const text of textsIn(input)) {
    // A shell joins a line that ends with a backslash and the next one.
    const line = text.replace(/\\\n/g, '');
    const plain = withoutQuotes(line);
    for (const one of [text, plain, ...plain.split(/[;&|\n(){}`]/)])
      texts
        .add(one)
        .add(inOneLine(one))
        .add(inOneLine(one.trimStart().replace(BEFORE_PROGRAM, '')));
    for (const one of wholeCommands(line)) {
      const command = inOneLine(withoutQuotes(one.trimStart().replace(BEFORE_PROGRAM, '')));
      texts
        .add(inOneLine(withoutQuotes(one)))
        .add(command)
        .add(command.replace(/^\S*\//, ''));
    }
  }
  for (const path of new Set(pathsIn(input))) for (const file of filesMeant(path, place)) texts.add(file);
  return [...texts];
}

/**
 * A pattern of a rule that denies. One that does not begin at the root is meant from the directory of the agent, as in a rule
 * that allows, and from that of the project; where it begins with a path that contains a link, it is also meant where that leads.
 */
function deniedPatterns(input: string, place: Place): string[] {
  const { cwd, project_dir = null } = place;
  const around = input.startsWith('*') ? [] : [cwd, project_dir?.replace(/\/\.git$/, '') ?? null];
  const folders = input.startsWith('/') ? [''] : around;
  // Where Claude Code writes a prefix as `git push:*`, a person may have meant that.
  const prefix = input.endsWith(':*') ? [input.slice(0, -2), `${input.slice(0, -2)} *`] : [];
  const whole = folders.flatMap((folder) => {
    const written = folder === null ? null : asWritten(atHome(input, place).replaceAll('*', STAR), folder);
    return written === null ? [] : written.replaceAll(STAR, '*');
  });
  const all = new Set([input, ...prefix, ...whole]);
  for (const pattern of whole) {
    const star = pattern.indexOf('*');
    const path = star === -1 ? pattern : pattern.slice(0, Math.max(0, pattern.lastIndexOf('/', star)));
    const real = path !== '' && path.length <= LONGEST_PATH ? place.resolve(path) : null;
    if (real !== null) all.add(`${real}${pattern.slice(path.length)}`);
  }
  return [...all];
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function withoutQuotes(text: string): string {
  return text.replace(/["'\\]/g, '');
}

/** The commands of a line, each with all of its words: nothing in quotes or in a substitution ends a command. */
function* wholeCommands(line: string): Generator<string> {
  let start = 0;
  let quote = '';
  let depth = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    const before = line[at - 1] ?? '';
    if (character === '\\' && quote !== "'") at += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (/["'`]/.test(character)) quote = character;
    else if (character === '(' && (depth > 0 || /[$<>]/.test(before))) depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0 && ENDS_COMMAND.includes(character) && !isOfRedirection(line, at)) {
      yield line.slice(start, at);
      start = at + 1;
    }
  }
  yield line.slice(start);
}

const ENDS_COMMAND = ';&|\n()';

/** Whether a `&` or `|` belongs to a redirection: `2>&1`, `&> log`, `>| log`. */
function isOfRedirection(line: string, at: number): boolean {
  return line[at] === '&'
    ? /[<>]/.test(line[at - 1] ?? '') || line[at + 1] === '>'
    : line[at] === '|' && line[at - 1] === '>';
}

/** Words that may stand before the program of a command: keywords and commands of a shell, variables, redirections. */
const BEFORE_PROGRAM =
  /^(?:(?:[!{]|if|then|elif|else|while|until|do|time(?:\s+-p)?|coproc|command|builtin|exec|env|nohup|sudo)\s+|[A-Za-z_]\w*\+?=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])*\s+|\d*(?:&?>>?|>\||[<>]&|<)\s*\S+\s+)+/s;

/** The files that an input names: what begins like a path with a folder, an argument that is called one, those of a patch. */
function* pathsIn(input: unknown): Generator<string> {
  for (const [name, value] of Object.entries(objectIn(input) ?? {}))
    if (typeof value === 'string' && /path|file|dir|folder/i.test(name)) yield value;
  for (const text of textsIn(input)) {
    if (/^[^\s]*\//.test(text)) yield text;
    for (const [, path = ''] of text.matchAll(PATCHED_FILE)) yield path;
  }
}

/**
 * The files that a path may mean to a client. Clients drop outer blanks, compose letters, expand `~`, and some remove `..` from the
 * text without looking at links.
 */
function* filesMeant(path: string, place: Place): Generator<string> {
  const bare = withoutOuterBlanks(path);
  for (const one of new Set([bare, bare.normalize('NFC')].map((text) => atHome(text, place)))) {
    const written = asWritten(one, place.cwd);
    // Both lead to the same file unless one of them goes up from a link.
    const names = written !== null && !one.split('/').includes('..') ? [written] : [one, written];
    for (const name of names) {
      if (name === null || name.length > LONGEST_PATH) continue;
      if (name.startsWith('/')) yield name;
      const real = place.resolve(name);
      if (real !== null) yield real;
    }
  }
}

function atHome(path: string, { home }: Place): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path;
}

/** Codex drops what Unicode calls white space, which is not quite what JavaScript does. */
function withoutOuterBlanks(text: string): string {
  const isBlank = (at: number): boolean => /[\s\u0085]/.test(text[at] ?? '');
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (start < end && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

const PATCHED_FILE =
  /^(?:[^\S\n\r\u2028\u2029]|\u0085)*\*\*\* (?:(?:Add|Delete|Update) File|Move to): (.+)$/gm;
const LONGEST_PATH = 4_096;

function* textsIn(value: unknown): Generator<string> {
  const open = [value];
  for (let one = open.pop(); open.length > 0 || one !== undefined; one = open.pop()) {
    if (typeof one === 'string') yield one;
    else if (one !== null && typeof one === 'object')
      for (const inner of Object.values(one)) open.push(inner);
  }
}
